import type { ComponentChildren } from 'preact'
import type { TraceRow } from '../api/schema.ts'
import { bytes, fullTime, time } from '../lib/format.ts'
import { Details } from './details.tsx'
import { t } from './message.words.ts'
import { Badge, Card, Text, type Tone } from './page.tsx'

/** The fields of an attempt for operators and for the owner of the message. */
export type Delivery = Omit<TraceRow, 'quarantine_id'>

export const STATUSES = ['delivered', 'bounced', 'deferred', 'rejected', 'held'] as const

const TONES: Record<string, Tone> = {
  delivered: 'good',
  released: 'good',
  deferred: 'warn',
  held: 'warn',
  bounced: 'bad',
  rejected: 'bad',
}

export const MessageStatus = ({ status }: { status: string }) => (
  <Badge tone={TONES[status] ?? ''}>{t.statuses[status] ?? status}</Badge>
)

/** The state of the message: that of its newest delivery. */
export const LastStatus = ({ deliveries }: { deliveries: readonly Delivery[] }) => {
  const last = deliveries.at(-1)
  return last ? <MessageStatus status={last.status} /> : null
}

/** The fields that all deliveries of a message share. */
export function Envelope({ id, deliveries }: { id: string; deliveries: readonly Delivery[] }) {
  const [first] = deliveries
  if (!first) return null
  const recipients = new Set(deliveries.map(({ recipient }) => recipient))
  return (
    <Card>
      <Details
        rows={[
          [t.sender, <Text key="sender">{first.sender || t.bounce}</Text>],
          [t.recipients, <Text key="to">{[...recipients].join(', ')}</Text>],
          [t.login, first.login && <Text>{first.login}</Text>],
          [t.messageId, <code key="id">{id}</code>],
          [t.queueId, first.queue_id && <code>{first.queue_id}</code>],
          [t.size, first.size === null ? null : bytes(first.size)],
          [t.score, first.spam_score === null ? null : String(first.spam_score)],
        ]}
      />
    </Card>
  )
}

export interface Step {
  at: string
  id: string
  tone: Tone
  body: ComponentChildren
}

/** Steps in the order of their times. */
export const Timeline = ({ steps }: { steps: readonly Step[] }) => (
  <ol class="timeline">
    {[...steps]
      .sort((a, b) => a.at.localeCompare(b.at))
      .map(({ at, id, tone, body }) => (
        <li key={id} class={tone}>
          <time dateTime={at} title={fullTime(at)}>
            {time(at)}
          </time>
          <div>{body}</div>
        </li>
      ))}
  </ol>
)

export const deliveryStep = (row: Delivery, more?: ComponentChildren): Step => ({
  at: row.timestamp,
  id: row.id,
  tone: TONES[row.status] ?? '',
  body: (
    <>
      <p class="with-badge">
        <MessageStatus status={row.status} />
        <Text>{row.recipient}</Text>
      </p>
      {row.relay && (
        <p class="muted">
          {t.relay} <code>{row.relay}</code>
        </p>
      )}
      {(row.bounce_reason || row.dsn) && (
        <blockquote>
          <code>
            <Text>{[row.dsn, row.bounce_reason].filter(Boolean).join(' ')}</Text>
          </code>
        </blockquote>
      )}
      {more}
    </>
  ),
})
