import { type TSchema, Type } from 'typebox'
import { Body, Nullable, OneOf, Success, Timestamp } from '../../http/envelope.ts'
import { MAX_COUNTED } from './trace.repository.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))
const range = {
  start_date: text('ISO date or datetime, inclusive'),
  end_date: text('ISO date or datetime, inclusive; a date means the end of that day'),
}
const slice = (fallback: number, maximum: number) => ({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum, default: fallback })),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Rows to skip' })),
})

export const TRACE_LIMIT = 50
export const TraceQuery = Type.Object({
  sender: text('An address, or a part of one, which takes longer'),
  recipient: text('An address, or a part of one, which takes longer'),
  subject: text('A part of it, in any case'),
  status: Type.Optional(OneOf(['delivered', 'bounced', 'deferred', 'rejected', 'held'])),
  message_id: text('Exact, with or without angle brackets'),
  organization_id: text('Exact'),
  login: text(
    'The login that sent the message: a mailbox or an SMTP credential; exact, in any case',
  ),
  ...range,
  ...slice(TRACE_LIMIT, 500),
})

export const TraceRow = Type.Object(
  {
    id: Type.String(),
    timestamp: Timestamp,
    sender: Type.String({ examples: ['shop@acme.example'] }),
    recipient: Type.String({ examples: ['jane@elsewhere.example'] }),
    subject: Nullable(Type.String()),
    status: Type.String({
      description:
        'delivered, bounced, deferred or rejected; queued for mail of the API that waits for the mail server; held for a message in quarantine, then released, deleted or expired',
      examples: ['delivered'],
    }),
    message_id: Nullable(Type.String()),
    size: Nullable(Type.Integer({ description: 'Bytes' })),
    relay: Nullable(Type.String()),
    dsn: Nullable(Type.String({ examples: ['2.0.0'] })),
    spam_score: Nullable(Type.Number()),
    bounce_reason: Nullable(Type.String()),
    queue_id: Nullable(
      Type.String({ description: 'NOQUEUE for mail refused before it was queued' }),
    ),
    login: Nullable(Type.String({ description: 'The login that sent the message' })),
    credential_id: Nullable(Type.String({ description: 'The SMTP credential of the login' })),
    quarantine_id: Nullable(Type.String({ description: 'Of a message that was held back' })),
  },
  { title: 'TraceRow' },
)

/** `data` is the list itself, as clients know it, so the total is beside it. */
export const ListWithTotal = <Row extends TSchema>(row: Row) =>
  Type.Object({
    ...Success(Type.Array(row)).properties,
    total: Type.Integer({ description: `Rows that match, counted up to ${MAX_COUNTED}` }),
  })

const SEVERITIES = ['info', 'warning', 'critical'] as const

export const TrailEvent = Type.Object(
  {
    id: Type.String(),
    event_type: Type.String({ examples: ['release_quarantined_message'] }),
    event_source: Type.String({ examples: ['console'] }),
    organization_id: Nullable(Type.String()),
    user_email: Nullable(Type.String()),
    client_ip: Nullable(Type.String()),
    severity: OneOf(SEVERITIES),
    details: Nullable(Type.Object({}, { additionalProperties: true })),
    created_at: Timestamp,
  },
  { title: 'TrailEvent' },
)

export const MessageTimeline = Type.Object({
  message_id: Type.String(),
  deliveries: Type.Array(TraceRow),
  audit_events: Type.Array(TrailEvent),
})

export const MessageParams = Type.Object({
  msg_id: Type.String({ description: 'Message-ID, with or without angle brackets' }),
})

export const TRAIL_LIMIT = 100
export const TrailQuery = Type.Object({
  event_type: text('Exact'),
  event_source: text('Exact: console, api, or the service of a failed login'),
  organization_id: text('Exact'),
  user_email: text('Exact'),
  client_ip: text('Exact'),
  severity: Type.Optional(OneOf(SEVERITIES)),
  ...range,
  ...slice(TRAIL_LIMIT, 1000),
})

export const QUARANTINE_LIMIT = 50
export const QuarantineQuery = Type.Object({
  organization_id: text('Exact'),
  status: Type.Optional(
    OneOf(['quarantined', 'released', 'deleted', 'expired'], { default: 'quarantined' }),
  ),
  reason: Type.Optional(OneOf(['spam', 'virus', 'policy', 'transport_rule', 'admin'])),
  q: text('Part of sender, recipient or subject'),
  ...slice(QUARANTINE_LIMIT, 200),
})

export const QuarantinedMessage = Type.Object(
  {
    id: Type.String(),
    organization_id: Nullable(Type.String()),
    message_id: Nullable(Type.String()),
    queue_id: Nullable(Type.String()),
    sender: Type.String(),
    login: Nullable(Type.String({ description: 'Of outgoing mail; null for mail that came in' })),
    recipient: Type.String(),
    subject: Nullable(Type.String()),
    reason: Type.String({ examples: ['spam'] }),
    spam_score: Nullable(Type.Number()),
    virus_name: Nullable(Type.String()),
    rule_id: Nullable(Type.String()),
    headers: Type.Object({}, { additionalProperties: true }),
    status: Type.String({ examples: ['quarantined'] }),
    released_by: Nullable(Type.String()),
    released_at: Nullable(Timestamp),
    expires_at: Timestamp,
    created_at: Timestamp,
    threat_level: OneOf(['low', 'medium', 'high', 'critical']),
  },
  { title: 'QuarantinedMessage' },
)

export const QuarantinePage = Type.Object({
  messages: Type.Array(QuarantinedMessage),
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
})

export const QuarantineParams = Type.Object({ quarantine_id: Type.String() })
export const Reason = Body({
  reason: Type.String({
    minLength: 10,
    maxLength: 2000,
    description: 'Kept in the audit trail',
    examples: ['Asked for by the recipient'],
  }),
})

export const BlockedMessage = Type.Object({
  ...QuarantinedMessage.properties,
  sender_blocked: Type.Boolean({
    description: 'false for outgoing mail, and when it belongs to no organization',
  }),
})

export const BlockedSender = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String({ description: 'The organization that takes no mail of it' }),
    sender: Type.String({ examples: ['spammer@elsewhere.example'] }),
    reason: Type.String(),
    quarantine_id: Nullable(Type.String({ description: 'The message that it was blocked with' })),
    created_by: Type.String({ examples: ['operator@host.example'] }),
    created_at: Timestamp,
  },
  { title: 'BlockedSender' },
)
export const BlockedSenderPage = Type.Object({
  blocked_senders: Type.Array(BlockedSender),
  total: Type.Integer(),
  limit: Type.Integer(),
  offset: Type.Integer(),
})
export const BlockedSenderQuery = Type.Object({
  organization_id: text('Exact'),
  q: text('Part of the sender'),
  ...slice(QUARANTINE_LIMIT, 200),
})
export const BlockedSenderParams = Type.Object({ block_id: Type.String() })
