import type { MailHost } from '../../api/schema.ts'
import { forget } from '../../lib/query.ts'
import { CheckBox, Field } from '../../ui/field.tsx'
import { FormDialog, type Values } from '../../ui/form.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t } from './words.ts'

const ROLES = ['backend', 'proxy', 'mx', 'submission', 'outbound'] as const
const PORTS = {
  imap_port: 993,
  pop3_port: 995,
  sieve_port: 4190,
  lmtp_port: 24,
  sync_port: 24182,
} as const
const PORT_NAMES = Object.keys(PORTS) as (keyof typeof PORTS)[]

function fieldsOf(values: Values) {
  const doveadm_url = values.text('doveadm_url')
  const ports = PORT_NAMES.map((name) => [name, values.number(name)] as const)
  return {
    address: values.text('address'),
    ...(doveadm_url && { doveadm_url }),
    ...Object.fromEntries(ports.filter(([, port]) => port !== undefined)),
  }
}

/** Adds a mail host, or changes the addresses of one. */
export const HostDialog = ({
  host,
  ...dialog
}: {
  host?: MailHost
  open: boolean
  onClose(): void
}) => (
  <FormDialog
    {...dialog}
    title={host ? t.editTitle(host.name) : t.add}
    submit={host ? common.save : t.add}
    onSubmit={async (values, idempotencyKey) => {
      const fields = fieldsOf(values)
      const { name } = host
        ? await api.put('/platform/mail-hosts/{host_id}', {
            params: { host_id: host.id },
            body: fields,
            idempotencyKey,
          })
        : await api.post('/platform/mail-hosts', {
            body: {
              ...fields,
              name: values.text('name'),
              roles: ROLES.filter((role) => values.checked(role)),
            },
            idempotencyKey,
          })
      forget('mail-hosts')
      toast(host ? t.changed(name) : t.added(name))
    }}
  >
    {!host && (
      <>
        <Field label={t.name} name="name" hint={t.nameHint} required autocomplete="off" />
        <fieldset>
          <legend>{t.role}</legend>
          {ROLES.map((role) => (
            <CheckBox key={role} label={t.roles[role]} name={role} />
          ))}
          <p class="hint">{t.roleHint}</p>
        </fieldset>
      </>
    )}
    <Field
      label={t.address}
      name="address"
      hint={t.addressHint}
      required
      autocomplete="off"
      value={host?.address}
    />
    <Field
      label={t.doveadm}
      name="doveadm_url"
      type="url"
      autocomplete="off"
      value={host?.doveadm_url ?? undefined}
    />
    {PORT_NAMES.map((name) => (
      <Field
        key={name}
        label={t.ports[name]}
        name={name}
        type="number"
        min={1}
        max={65535}
        value={host?.[name] ?? PORTS[name]}
      />
    ))}
  </FormDialog>
)
