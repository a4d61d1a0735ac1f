import { useState } from 'preact/hooks'
import type { FilterScript } from '../../../api/schema.ts'
import { forget, useQuery } from '../../../lib/query.ts'
import { CheckBox, Field, Select, TextArea } from '../../../ui/field.tsx'
import { FormDialog } from '../../../ui/form.tsx'
import { toast } from '../../../ui/toast.tsx'
import { t as common } from '../../../ui/words.ts'
import { api } from '../../api.ts'
import { useReplace } from './replace.tsx'
import { t } from './words.ts'

export type Edited = FilterScript | 'new'

interface Props {
  email: string
  /** undefined: closed. */
  script: Edited | undefined
  onClose(): void
}

export function ScriptEditor({ email, script, onClose }: Props) {
  const stored = script === 'new' ? undefined : script
  const replace = useReplace()
  return (
    <FormDialog
      title={stored ? t.editTitle(stored.name) : t.add}
      open={script !== undefined}
      onClose={onClose}
      submit={common.save}
      onSubmit={(values, idempotencyKey) =>
        replace.save(values, async (body) => {
          const name = stored?.name ?? values.text('name')
          await api.post('/filters/', {
            query: { email },
            body: {
              name,
              content: values.secret('content'),
              active: values.checked('active'),
              ...body,
            },
            idempotencyKey,
          })
          forget('filters')
          toast(t.saved(name))
        })
      }
    >
      {stored ? <Content value={stored.content} /> : <NewScript />}
      {!stored?.active && (
        <CheckBox label={t.activateNow} name="active" hint={t.activateHint} checked={!stored} />
      )}
      {replace.field}
    </FormDialog>
  )
}

function NewScript() {
  const { data } = useQuery('filter-templates', () =>
    api.get('/filters/templates', { query: { per_page: 100 } }),
  )
  const [id, setId] = useState('')
  const chosen = data?.items.find((one) => one.id === id)
  return (
    <>
      <Select
        label={t.template}
        name="template"
        hint={chosen && <span lang="en">{chosen.description}</span>}
        options={[['', t.empty], ...(data?.items ?? []).map((one) => [one.id, one.name] as const)]}
        onChange={setId}
      />
      <Field
        key={`${id} name`}
        label={t.name}
        name="name"
        hint={t.nameHint}
        value={id}
        maxLength={64}
        pattern="[A-Za-z0-9_\-]+"
        autocomplete="off"
        required
      />
      <Content key={id} value={chosen?.sieve_content ?? ''} />
    </>
  )
}

const Content = ({ value }: { value: string }) => (
  <TextArea label={t.content} name="content" value={value} rows={12} required />
)
