import type { Message, OwnMessageTimeline } from '../../api/schema.ts'
import { useQuery } from '../../lib/query.ts'
import { useParams } from '../../lib/router.tsx'
import { Failed } from '../../ui/failed.tsx'
import { deliveryStep, Envelope, LastStatus, type Step, Timeline } from '../../ui/message.tsx'
import { t as words } from '../../ui/message.words.ts'
import { Badge, Card, Heading, Text } from '../../ui/page.tsx'
import { api } from '../api.ts'
import { t } from './words.ts'

export function MessagePage() {
  const { message_id = '' } = useParams()
  const { data, error, again } = useQuery(
    `message ${message_id}`,
    () => api.get('/messages/{message_id}', { params: { message_id } }),
    { everySeconds: 30 },
  )
  const deliveries = data?.deliveries ?? []
  const first = deliveries[0]
  return (
    <>
      <Heading
        title={first?.subject || (first ? words.noSubject : words.one)}
        parent={{ title: t.title, to: '/app/messages' }}
        badge={<LastStatus deliveries={deliveries} />}
      >
        {first?.credential_id && (
          <a class="button" href={`/app/smtp-credentials/${first.credential_id}`}>
            {t.credential}
          </a>
        )}
      </Heading>
      <Failed error={error} again={again} />
      {data && (
        <>
          <Envelope id={data.message_id} deliveries={deliveries} />
          <Card title={words.timeline}>
            <Timeline
              steps={[
                ...deliveries.map((row) => deliveryStep(row, <Suppressed row={row} />)),
                ...data.decisions.map(decisionStep),
                ...data.engagement.map(engagementStep),
              ]}
            />
          </Card>
        </>
      )}
    </>
  )
}

/** An address that bounced may get no more mail; the list says so. */
const Suppressed = ({ row }: { row: Message }) =>
  row.direction === 'outbound' && row.status === 'bounced' ? (
    <p>
      <a href={`/app/suppressions?q=${encodeURIComponent(row.recipient)}`}>{t.suppressed}</a>
    </p>
  ) : null

const decisionStep = ({
  id,
  action,
  created_at,
}: OwnMessageTimeline['decisions'][number]): Step => ({
  at: created_at,
  id,
  tone: 'info',
  body: (
    <p class="with-badge">
      <Badge tone="info">{t.decisions[action] ?? action}</Badge>
      <span>{t.byHost}</span>
    </p>
  ),
})

const engagementStep = ({
  id,
  type,
  recipient,
  url,
  automated,
  created_at,
}: OwnMessageTimeline['engagement'][number]): Step => ({
  at: created_at,
  id,
  tone: 'info',
  body: (
    <>
      <p class="with-badge">
        <Badge tone="info">{t.engagement[type] ?? type}</Badge>
        <Text>{recipient}</Text>
        {automated && <span class="muted">{t.automated}</span>}
      </p>
      {url && (
        <p class="muted">
          <Text>{url}</Text>
        </p>
      )}
    </>
  ),
})
