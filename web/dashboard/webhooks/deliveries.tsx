import { useState } from 'preact/hooks'
import type { WebhookDelivery } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Failed } from '../../ui/failed.tsx'
import { Choice, ListTable, SearchBar, useList } from '../../ui/list.tsx'
import { Badge, Empty, Facts, Heading, Text, Time, type Tone } from '../../ui/page.tsx'
import type { Column } from '../../ui/table.tsx'
import { t as common } from '../../ui/words.ts'
import { api } from '../api.ts'
import { useEventTypes } from './endpoint-fields.tsx'
import { Payload } from './payload.tsx'
import { t } from './words.ts'

const TONES: Record<WebhookDelivery['delivery_status'], Tone> = {
  pending: '',
  delivered: 'good',
  retrying: 'warn',
  failed: 'bad',
  abandoned: 'bad',
}

export const Deliveries = () => (
  <>
    <Heading title={t.deliveries} parent={{ title: t.title, to: '/app/webhooks' }} />
    <DeliveryList />
  </>
)

const columns: Column<WebhookDelivery>[] = [
  { title: common.when, cell: ({ created_at }) => <Time iso={created_at} /> },
  { title: t.event, cell: ({ event_type }) => <code>{event_type}</code> },
  {
    title: t.result,
    cell: ({ delivery_status }) => (
      <Badge tone={TONES[delivery_status]}>{t.results[delivery_status]}</Badge>
    ),
  },
  {
    title: t.answer,
    number: true,
    minor: true,
    cell: ({ http_status_code }) => http_status_code || t.noAnswer,
  },
  { title: t.attempt, number: true, minor: true, cell: ({ attempts }) => attempts },
]

/** Attempts to deliver, of one endpoint or of all. It is read again while one looks at it. */
export function DeliveryList({ endpointId }: { endpointId?: string }) {
  const [shown, setShown] = useState<WebhookDelivery>()
  const list = useList({
    name: `webhook deliveries ${endpointId ?? ''}`,
    sort: '',
    filters: ['status', 'event'],
    everySeconds: 10,
    read: ({ page, per_page, filters }) =>
      api.get('/webhooks/deliveries', {
        query: {
          page,
          per_page,
          ...(endpointId && { endpoint_id: endpointId }),
          ...(filters.status && { status: filters.status }),
          ...(filters.event && { event_type: filters.event }),
        },
      }),
  })
  const types = useEventTypes()
  return (
    <>
      <SearchBar list={list}>
        <Choice
          label={t.anyResult}
          value={list.asked.filters.status}
          options={Object.entries(t.results)}
          change={(status) => list.set({ status })}
        />
        <Choice
          label={t.allEvents}
          value={list.asked.filters.event}
          options={types.map(({ name }) => [name, name] as const)}
          change={(event) => list.set({ event })}
        />
      </SearchBar>
      <ListTable
        list={list}
        caption={t.deliveries}
        columns={[
          ...columns,
          {
            title: common.actions,
            quiet: true,
            cell: (one) => (
              <button type="button" class="small" onClick={() => setShown(one)}>
                {t.details}
              </button>
            ),
          },
        ]}
        rowKey={({ id }) => id}
        empty={<Empty title={t.noDeliveries}>{t.noDeliveriesHint}</Empty>}
      />
      <Dialog
        title={shown?.event_type ?? ''}
        open={shown !== undefined}
        onClose={() => setShown(undefined)}
        size="wide"
      >
        {shown && <Attempt delivery={shown} />}
      </Dialog>
    </>
  )
}

function Attempt({ delivery }: { delivery: WebhookDelivery }) {
  const { data, error, again } = useQuery(`webhook delivery ${delivery.id}`, () =>
    api.get('/webhooks/deliveries/{delivery_id}', { params: { delivery_id: delivery.id } }),
  )
  return (
    <div class="stack">
      <Facts
        facts={[
          { name: t.result, value: t.results[delivery.delivery_status] },
          { name: t.answer, value: delivery.http_status_code || t.noAnswer },
          { name: t.attempt, value: delivery.attempts },
          { name: common.when, value: <Time iso={delivery.created_at} form="dateTime" /> },
        ]}
      />
      <p>
        {t.url}: <Text>{delivery.webhook_url}</Text>
      </p>
      <p>
        {t.eventId}: <code>{delivery.event_id}</code>
      </p>
      {delivery.error_message && (
        <p class="note warn" lang="en">
          <Text>{delivery.error_message}</Text>
        </p>
      )}
      <Failed error={error} again={again} />
      {data && <Payload payload={data.payload} />}
    </div>
  )
}
