import type { MailboxForwarding } from '../../api/schema.ts'
import { forget, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { CheckBox, TextArea } from '../../ui/field.tsx'
import { Form, type Values } from '../../ui/form.tsx'
import { Card, Heading } from '../../ui/page.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as shared } from '../words.ts'
import { t } from './words.ts'

export function Forwarding() {
  const { data, error, again } = useQuery('forwarding', () => api.get('/mailbox/forwarding'))
  return (
    <>
      <Heading title={t.title} />
      <Failed error={error} again={again} />
      {/* The form starts again with what was stored, because the server drops what is no address. */}
      {data && <ForwardingForm key={data.addresses.join()} forwarding={data} />}
    </>
  )
}

const addressesOf = (values: Values) =>
  values
    .text('addresses')
    .split(/[\s,;]+/)
    .filter(Boolean)

async function save(values: Values, idempotencyKey: string): Promise<void> {
  const addresses = addressesOf(values)
  const saved = await api.put('/mailbox/forwarding', {
    body: {
      enabled: values.checked('enabled'),
      addresses,
      keep_copy: values.checked('keep_copy'),
    },
    idempotencyKey,
  })
  forget('forwarding')
  forget('home')
  toast(saved.addresses.length < addresses.length ? `${t.saved}. ${t.dropped}` : t.saved)
}

const ForwardingForm = ({ forwarding }: { forwarding: MailboxForwarding }) => (
  <Card>
    <div class="narrow">
      <p class="muted prose">{t.hint}</p>
      {!forwarding.managed && <p class="note warn">{shared.foreign}</p>}
      {forwarding.loses_signatures && <p class="note warn">{t.signatures}</p>}
      <Form submit={common.save} onSubmit={save}>
        <CheckBox label={t.enabled} name="enabled" checked={forwarding.enabled} />
        <TextArea
          label={t.addresses}
          name="addresses"
          rows={5}
          value={forwarding.addresses.join('\n')}
          hint={t.addressesHint}
        />
        <CheckBox
          label={t.keep}
          name="keep_copy"
          checked={forwarding.keep_copy}
          hint={t.keepHint}
        />
      </Form>
    </div>
  </Card>
)
