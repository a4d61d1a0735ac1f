import type { TraceRow, TrailEvent } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { deliveryStep, Envelope, LastStatus, type Step, Timeline } from '../../ui/message.tsx'
import { t as words } from '../../ui/message.words.ts'
import { Badge, Card, Heading, Text } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export function Message() {
  const { msg_id = '' } = useParams()
  const { data, error, again } = useQuery(`trace ${msg_id}`, () =>
    api.get('/message-trace/trace/{msg_id}', { params: { msg_id } }),
  )
  const deliveries = data?.deliveries ?? []
  const first = deliveries[0]
  return (
    <>
      <Heading
        title={first?.subject || (first ? words.noSubject : words.one)}
        parent={{ title: t.title, to: '/console/trace' }}
        badge={<LastStatus deliveries={deliveries} />}
      />
      <Failed error={error} again={again} />
      {data && (
        <>
          <Envelope id={data.message_id} deliveries={deliveries} />
          <Card title={words.timeline}>
            <Timeline
              steps={[
                ...deliveries.map((row) => deliveryStep(row, <InQuarantine row={row} />)),
                ...data.audit_events.map(eventStep),
              ]}
            />
          </Card>
        </>
      )}
    </>
  )
}

const InQuarantine = ({ row }: { row: TraceRow }) =>
  row.quarantine_id ? (
    <p>
      <a href={`/console/quarantine?q=${encodeURIComponent(row.recipient)}`}>{t.quarantined}</a>
    </p>
  ) : null

const eventStep = (event: TrailEvent): Step => ({
  at: event.created_at,
  id: event.id,
  tone: 'info',
  body: (
    <p class="with-badge">
      <Badge tone={event.severity === 'info' ? 'info' : 'warn'}>{event.event_type}</Badge>
      {event.user_email && <Text>{t.byConsole(event.user_email)}</Text>}
    </p>
  ),
})
