import { useId, useState } from 'preact/hooks'
import { useQuery } from '../lib/query.ts'
import { Field } from '../ui/field.tsx'
import { t as common } from '../ui/words.ts'
import { api } from './api.ts'
import { t } from './words.ts'

const SUGGESTED = 10

/** An organization by its id; what is typed is searched, also by name, domain and mailbox. */
export function OrganizationField({
  value = '',
  name = 'organization_id',
  label = t.organization,
  hint = t.organizationHint,
  optional = false,
}: {
  value?: string | undefined
  name?: string
  label?: string
  hint?: string
  optional?: boolean
}) {
  const id = useId()
  const [typed, setTyped] = useState('')
  const { data } = useQuery(`organization choice ${typed}`, () =>
    api.get('/organizations/', { query: { q: typed, per_page: SUGGESTED } }),
  )
  return (
    <>
      <Field
        label={label}
        name={name}
        value={value}
        required={!optional}
        autocomplete="off"
        hint={hint}
        list={id}
        onInput={setTyped}
      />
      <datalist id={id}>
        {data?.items.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}
          </option>
        ))}
      </datalist>
    </>
  )
}

/** The reason that the API stores in the audit log. */
export const ReasonField = () => (
  <Field
    label={common.reason}
    name="reason"
    hint={common.reasonHint}
    required
    minLength={3}
    autocomplete="off"
  />
)

/** The lines of a text area without empty ones. */
export const linesOf = (text: string): string[] =>
  text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean)
