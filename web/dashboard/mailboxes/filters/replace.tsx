import { useState } from 'preact/hooks'
import { ApiError } from '../../../api/client.ts'
import { CheckBox } from '../../../ui/field.tsx'
import type { Values } from '../../../ui/form.tsx'
import { t } from './words.ts'

/** Offers to switch off the holder's own script, once the API has refused because of it. */
export function useReplace() {
  const [isOffered, setOffered] = useState(false)
  return {
    field: isOffered && <CheckBox label={t.replace} name="replace" />,
    async save(values: Values, run: (body: { replace?: boolean }) => Promise<unknown>) {
      try {
        await run(values.checked('replace') ? { replace: true } : {})
        setOffered(false)
      } catch (problem) {
        if (problem instanceof ApiError && problem.code === 'HOLDER_SCRIPT_ACTIVE') setOffered(true)
        throw problem
      }
    },
  }
}
