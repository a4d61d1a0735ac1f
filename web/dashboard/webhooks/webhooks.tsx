import { useState } from 'preact/hooks'
import type { WebhookEndpoint } from '../../api/schema.ts'
import { useMay } from '../../lib/may.ts'
import { forget } from '../../lib/query.ts'
import { AddButton } from '../../ui/buttons.tsx'
import { FormDialog } from '../../ui/form.tsx'
import { ListTable, useList } from '../../ui/list.tsx'
import { Badge, Empty, Heading, Text, Time } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { Column } from '../../ui/table.tsx'
import { toast } from '../../ui/toast.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { t as deadLetters } from './dead-letters.words.ts'
import { EndpointActions } from './endpoint-actions.tsx'
import { EndpointFields, endpointOf } from './endpoint-fields.tsx'
import { t } from './words.ts'

export const Status = ({ active }: Pick<WebhookEndpoint, 'active'>) => (
  <Badge tone={active ? 'good' : 'warn'}>{active ? t.active : t.paused}</Badge>
)

const columns: Column<WebhookEndpoint>[] = [
  {
    title: t.name,
    cell: ({ id, name, url }) => (
      <a href={`/app/webhooks/${id}`}>
        <Text>{name || url}</Text>
      </a>
    ),
  },
  { title: t.url, minor: true, cell: ({ url }) => <Text>{url}</Text> },
  {
    title: t.events,
    minor: true,
    cell: ({ event_types }) =>
      event_types.length === 0 ? t.allEvents : t.someEvents(event_types.length),
  },
  { title: t.status, cell: (one) => <Status {...one} /> },
  {
    title: t.created,
    minor: true,
    cell: ({ created_at }) => <Time iso={created_at} form="date" />,
  },
  { title: common.actions, quiet: true, cell: (one) => <EndpointActions endpoint={one} /> },
]

export function Webhooks() {
  const may = useMay()
  const [adding, setAdding] = useState(false)
  const [created, setCreated] = useState<{ name: string; secret: string }>()
  const list = useList<WebhookEndpoint>({
    name: 'webhooks',
    sort: '',
    read: ({ page, per_page }) => api.get('/webhooks/endpoints', { query: { page, per_page } }),
  })
  const add = (words: string) =>
    may<'POST /webhooks/endpoints'>('write') && (
      <AddButton onClick={() => setAdding(true)}>{words}</AddButton>
    )
  return (
    <>
      <Heading title={t.title}>
        <a class="button" href="/app/webhooks/deliveries">
          {t.deliveries}
        </a>
        <a class="button" href="/app/webhooks/dead-letters">
          {deadLetters.title}
        </a>
        {add(t.add)}
      </Heading>
      <ListTable
        list={list}
        caption={t.title}
        columns={columns}
        rowKey={({ id }) => id}
        empty={
          <Empty title={t.none} action={add(t.addFirst)}>
            {t.noneHint}
          </Empty>
        }
      />
      <FormDialog
        title={t.add}
        open={adding}
        onClose={() => setAdding(false)}
        submit={t.add}
        onSubmit={async (values, idempotencyKey) => {
          const endpoint = endpointOf(values)
          const { secret } = await api.post('/webhooks/endpoints', {
            body: endpoint,
            idempotencyKey,
          })
          forget('webhooks')
          setCreated({ name: endpoint.name, secret })
          toast(t.added(endpoint.name))
        }}
      >
        <EndpointFields />
      </FormDialog>
      <SecretDialog
        title={t.secretTitle(created?.name ?? '')}
        secret={created?.secret}
        fileName="webhook-secret.txt"
        onClose={() => setCreated(undefined)}
      >
        <p>{t.secretHint}</p>
      </SecretDialog>
    </>
  )
}
