import { useEffect, useState } from 'preact/hooks'
import type { ApiError } from '../api/client.ts'
import { onFailure } from '../lib/attempt.ts'
import { Dialog } from './dialog.tsx'
import { Failed } from './failed.tsx'
import { t } from './words.ts'

/** The dialog with the error of a change that has no form of its own. */
export function Failures() {
  const [error, setError] = useState<ApiError>()
  useEffect(() => onFailure(setError), [])
  return (
    <Dialog title={t.failed} open={error !== undefined} onClose={() => setError(undefined)}>
      <Failed error={error} />
    </Dialog>
  )
}
