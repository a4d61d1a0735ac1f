import { Type } from 'typebox'
import { CursorQuery } from '../../http/cursor.ts'
import { Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { TraceQuery, TraceRow } from '../message-trace/message-trace.schemas.ts'

const DIRECTIONS = ['outbound', 'inbound'] as const
export const MESSAGE_LIMIT = 50

const { sender, recipient, subject, status, message_id, start_date, end_date } =
  TraceQuery.properties

export const MessageQuery = Type.Object({
  sender,
  recipient,
  subject,
  status,
  direction: Type.Optional(
    OneOf(DIRECTIONS, { description: 'outbound was sent with a login; inbound came in' }),
  ),
  message_id,
  start_date,
  end_date,
  organization_id: Type.Optional(
    Type.String({ description: 'For platform callers; a tenant always gets its own' }),
  ),
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 200, default: MESSAGE_LIMIT, description: 'Of a page' }),
  ),
  ...CursorQuery,
})

const { quarantine_id: _, ...shown } = TraceRow.properties

export const Message = Type.Object(
  { ...shown, direction: OneOf(DIRECTIONS) },
  {
    title: 'Message',
    description: 'Outcome of a message for one recipient',
  },
)

export const MessagePage = Type.Object({
  messages: Type.Array(Message),
  next_cursor: Nullable(
    Type.String({ description: '`cursor` of the next page; null on the last page' }),
  ),
})

export const OwnMessageParams = Type.Object({
  message_id: Type.String({ description: 'Message-ID, with or without angle brackets' }),
})

const Decision = Type.Object(
  {
    id: Type.String(),
    action: Type.String({ examples: ['release_quarantined_message'] }),
    created_at: Timestamp,
  },
  { title: 'MessageDecision', description: 'Decision of an operator about a held message' },
)

const Engagement = Type.Object(
  {
    id: Type.String(),
    type: Type.String({ examples: ['opened', 'clicked', 'unsubscribed', 'complained'] }),
    recipient: Type.String(),
    url: Nullable(Type.String({ description: 'The link that was clicked' })),
    automated: Type.Boolean({ description: 'By a scanner or a proxy, not by a person' }),
    created_at: Timestamp,
  },
  { title: 'MessageEngagement', description: 'Action of a recipient on a tracked message' },
)

export const OwnTimeline = Type.Object(
  {
    message_id: Type.String(),
    deliveries: Type.Array(Message, { description: 'Every attempt and every hold, oldest first' }),
    decisions: Type.Array(Decision),
    engagement: Type.Array(Engagement, {
      description: 'Opens, clicks and complaints, oldest first, at most 100',
    }),
  },
  { title: 'OwnMessageTimeline' },
)
