import type { SmtpCredential } from '../../api/schema.ts'
import { Field, TextArea } from '../../ui/field.tsx'
import type { Values } from '../../ui/form.tsx'
import { t } from './words.ts'

type Limits = Pick<
  SmtpCredential,
  'allowed_ips' | 'expires_at' | 'hourly_limit' | 'daily_limit' | 'name'
>

/** The fields that a credential has when it is added and when it is changed. */
export const LimitFields = ({ credential }: { credential?: Limits }) => (
  <>
    <Field
      label={t.name}
      name="name"
      hint={t.nameHint}
      value={credential?.name ?? ''}
      autocomplete="off"
    />
    <Field
      label={t.expires}
      name="expires_at"
      type="datetime-local"
      hint={t.expiresHint}
      value={localTime(credential?.expires_at)}
    />
    <div class="pair">
      <Field
        label={t.hourly}
        name="hourly_limit"
        type="number"
        min={1}
        value={credential?.hourly_limit ?? ''}
      />
      <Field
        label={t.daily}
        name="daily_limit"
        type="number"
        min={1}
        hint={t.limitHint}
        value={credential?.daily_limit ?? ''}
      />
    </div>
    <TextArea
      label={t.ips}
      name="allowed_ips"
      rows={3}
      hint={t.ipsHint}
      value={credential?.allowed_ips.join('\n') ?? ''}
    />
  </>
)

export function limitsOf(values: Values) {
  const ips = values
    .text('allowed_ips')
    .split(/[\s,]+/)
    .filter(Boolean)
  const expires = values.text('expires_at')
  return {
    name: values.optional('name'),
    expires_at: expires ? new Date(expires).toISOString() : null,
    hourly_limit: values.number('hourly_limit') ?? null,
    daily_limit: values.number('daily_limit') ?? null,
    allowed_ips: ips,
    ip_allowlist_enabled: ips.length > 0,
  }
}

/** The value of a `datetime-local` field: the time in the zone of the browser. */
function localTime(iso: string | null | undefined): string {
  if (!iso) return ''
  const date = new Date(iso)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
