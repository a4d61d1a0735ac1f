import { useState } from 'preact/hooks'
import { forget, useAction, useQuery } from '../../lib/query.ts'
import { Failed } from '../../ui/failed.tsx'
import { Field } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { Card, Empty, Heading, Text } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as shared } from '../words.ts'
import { t } from './words.ts'

async function block(address: string, idempotencyKey?: string): Promise<void> {
  await api.post('/mailbox/blocked-senders', {
    body: { address },
    ...(idempotencyKey && { idempotencyKey }),
  })
  forget('blocked-senders')
}

export function BlockedSenders() {
  const { data, error, again } = useQuery('blocked-senders', () =>
    api.get('/mailbox/blocked-senders'),
  )
  const unblock = useAction(async (idempotencyKey, address: string) => {
    await api.delete('/mailbox/blocked-senders/{address}', { params: { address }, idempotencyKey })
    forget('blocked-senders')
    toast(t.unblocked(address), () => block(address))
  })
  return (
    <>
      <Heading title={t.title} />
      <Failed error={error ?? unblock.error} again={again} />
      {data && !data.managed && <p class="note warn">{shared.foreign}</p>}
      <Add />
      {data && (
        <Card title={t.count(data.addresses.length, data.limit)} flush>
          <p class="pad muted">{t.hint(data.folder)}</p>
          <Table
            caption={t.title}
            rows={data.addresses}
            rowKey={(address) => address}
            columns={[
              { title: t.address, cell: (address) => <Text>{address}</Text> },
              {
                title: common.actions,
                quiet: true,
                cell: (address) => (
                  <button
                    type="button"
                    class="small"
                    disabled={unblock.busy}
                    onClick={() => void unblock.run(address)}
                  >
                    {t.unblock}{' '}
                    <span class="hidden">
                      <Text>{address}</Text>
                    </span>
                  </button>
                ),
              },
            ]}
            empty={<Empty title={t.none}>{t.noneHint}</Empty>}
          />
        </Card>
      )}
    </>
  )
}

function Add() {
  // The form starts again after each address.
  const [added, setAdded] = useState(0)
  return (
    <Card title={t.blockTitle}>
      <div class="narrow">
        <Form
          key={added}
          submit={t.block}
          onSubmit={async (values, idempotencyKey) => {
            const address = values.text('address')
            await block(address, idempotencyKey)
            toast(t.blocked(address))
            setAdded(added + 1)
          }}
        >
          <Field
            label={t.address}
            name="address"
            inputMode="email"
            autocomplete="off"
            placeholder="noise@elsewhere.example"
            required
          />
        </Form>
      </div>
    </Card>
  )
}
