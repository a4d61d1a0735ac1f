import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { QUEUE_CHANGES } from '../../mail/mail-queue.ts'
import { MOST_IDS } from '../../mail/postfix-program.ts'

const Status = OneOf(['active', 'deferred', 'hold'])

export const QueuedMessage = Type.Object({
  queue_id: Type.String(),
  status: Status,
  sender: Type.String({ description: 'Empty or MAILER-DAEMON: a notice that mail failed' }),
  recipients: Type.Array(Type.String()),
  size: Type.Integer({ description: 'Bytes' }),
  date: Timestamp,
  arrival_time: Timestamp,
  reason: Nullable(Type.String({ description: 'Reason that the last attempt failed, in words' })),
})

const DomainCount = Type.Object({ domain: Type.String(), count: Type.Integer() })
const counts = { active: Type.Integer(), deferred: Type.Integer(), hold: Type.Integer() }
/** True when the list leaves messages out. */
const queue_error = Nullable(Type.String())

export const QueueOverview = Type.Object({
  total_messages: Type.Integer(),
  summary: Type.Object(counts),
  messages: Type.Array(QueuedMessage, { description: 'The first 1000' }),
  total: Type.Integer(),
  ...counts,
  by_domain: Type.Array(DomainCount, { description: 'Recipients per domain, the most first' }),
  queue_error,
})

export const DeferredMessages = Type.Object({
  messages: Type.Array(QueuedMessage, { description: 'The first 1000' }),
  total: Type.Integer(),
  queue_error,
})

export const QueueOfDomain = Type.Object({
  domain: Type.String(),
  total: Type.Integer(),
  ...counts,
  messages: Type.Array(QueuedMessage, { description: 'The first 1000' }),
  queue_error,
})

const QueueJob = Type.Object({
  queue_id: Type.String(),
  status: Status,
  sender: Type.String(),
  recipient: Type.String(),
  size: Type.Integer(),
  arrival_time: Timestamp,
  reason: Nullable(Type.String()),
})

export const QueueJobs = Type.Object({
  domain: Type.String(),
  jobs: Type.Array(QueueJob, { description: 'One a recipient at this domain; the first 1000' }),
  total: Type.Integer(),
  queue_error,
})

export const QueueHealth = Type.Object({
  status: Type.Literal('healthy'),
  service: Type.Literal('queue'),
})

export const DomainParams = Type.Object({ domain: Type.String() })
export const MessageParams = Type.Object({ queue_id: Type.String() })

const filters = {
  domain: Type.Optional(Type.String({ description: 'Only mail to this domain' })),
  queue_name: Type.Optional(
    OneOf(['deferred', 'hold', 'all'], {
      description: 'hold also releases; all does not touch what is on hold',
    }),
  ),
  older_than_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 525_600 })),
  recipient: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })),
  queue_id: Type.Optional(Type.String({ description: 'Only this message' })),
  force: Type.Optional(
    Type.Boolean({ description: 'Taken and echoed; a flush never waits for the retry time' }),
  ),
}

export const FlushRequest = Body(filters)
export const Flushed = Type.Object({
  success: Type.Boolean({
    description: 'false: the state of some messages could not be determined',
  }),
  message: Type.String(),
  flushed: Type.Integer(),
  failed: Type.Integer(),
  remaining: Type.Integer({ description: 'Matched, but left for another call' }),
  filters: Type.Object(filters),
})

const reason = Type.String({
  minLength: 1,
  maxLength: 2000,
  description: 'Stored in the audit log',
  examples: ['Spam of a stolen account'],
})

export const DeleteRequest = Body({ reason })
export const DeletedMessage = Type.Object({
  queue_id: Type.String(),
  deleted: Type.Literal(true),
})

export const SenderRequest = Body({
  sender: Type.String({
    minLength: 1,
    maxLength: 320,
    description:
      'Envelope sender: an e-mail address, an @ with a domain for all senders there, or MAILER-DAEMON for notices that mail failed',
    examples: ['ada@acme.example'],
  }),
  action: OneOf(QUEUE_CHANGES, {
    description: 'hold and delete concern all mail of the sender, release only mail on hold',
  }),
  dry_run: Type.Optional(
    Type.Boolean({ default: true, description: 'Count only; send false to change the messages' }),
  ),
  reason,
})

export const SenderChange = Type.Object({
  sender: Type.String(),
  action: OneOf(QUEUE_CHANGES),
  dry_run: Type.Boolean(),
  matched: Type.Integer({ description: 'Messages of the sender that the action concerns' }),
  summary: Type.Object(counts, {
    description: 'Numbers of these messages by their state before the action',
  }),
  changed: Type.Integer({ description: '0 in a dry run' }),
  remaining: Type.Integer({ description: 'Matched, but left for another call' }),
  queue_error,
})

const actionOf = (description: string) => OneOf(QUEUE_CHANGES, { description })

export const ReasonRequest = Body({ reason })
/** Hold and release came without a reason first; clients may leave the body out. */
export const OptionalReason = Type.Optional(Body({ reason: Type.Optional(reason) }))
export const RequeuedMessage = Type.Object({
  queue_id: Type.String({ description: 'The message gets a new id when it passes again' }),
  requeued: Type.Literal(true),
})

export const ManyRequest = Body({
  action: actionOf('The same for all of them'),
  ids: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
    minItems: 1,
    maxItems: MOST_IDS,
    examples: [['4jTNnC4k4vzKqHG']],
  }),
  reason,
})
export const ManyChanged = Type.Object({
  action: OneOf(QUEUE_CHANGES),
  changed: Type.Integer(),
  not_found: Type.Array(Type.String(), {
    description: 'Not in the queue, or not in a state that the action concerns',
  }),
})

export const FilterRequest = Body({
  sender: Type.Optional(
    Type.String({ minLength: 1, maxLength: 320, description: 'As in by-sender' }),
  ),
  domain: Type.Optional(Type.String({ description: 'A recipient is at this domain' })),
  recipient: Type.Optional(Type.String({ minLength: 1, maxLength: 320 })),
  status: Type.Optional(Status),
  older_than_minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: 525_600 })),
  larger_than_bytes: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  error_contains: Type.Optional(
    Type.String({
      minLength: 3,
      maxLength: 200,
      description: 'The reason of the last failed attempt contains this',
      examples: ['Connection refused'],
    }),
  ),
  action: actionOf('release concerns mail on hold, requeue mail that is not under delivery'),
  expected_count: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Without it messages are counted only; send `matched` of that answer to change them',
    }),
  ),
  reason,
})
export const FilterChange = Type.Object({
  action: OneOf(QUEUE_CHANGES),
  matched: Type.Integer({ description: 'Messages that the filter and the action concern' }),
  summary: Type.Object(counts, {
    description: 'Numbers of these messages by their state before the action',
  }),
  changed: Type.Integer({ description: '0 when they were only counted' }),
  remaining: Type.Integer({ description: 'Matched, but left for another call' }),
  queue_error,
})

export const MessageHeaders = Type.Object({
  queue_id: Type.String(),
  sender: Type.String(),
  recipients: Type.Array(Type.String(), { description: 'Recipients who still wait for it' }),
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  truncated: Type.Boolean({ description: 'The header is longer than 512 KB' }),
})

export const SamplesQuery = Type.Object({
  hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 720, default: 24 })),
})
export const QueueSamples = Type.Object({
  hours: Type.Integer(),
  points: Type.Array(
    Type.Object({
      t: Timestamp,
      ...counts,
      size_bytes: Type.Integer(),
      oldest_age_seconds: Nullable(
        Type.Integer({ description: 'Of mail that is not on hold; null: there is none' }),
      ),
    }),
    { description: 'A minute each, or the largest values of a longer step' },
  ),
})

export const OwnQueue = Type.Object({
  messages: Type.Array(QueuedMessage, { description: 'The first 1000' }),
  total: Type.Integer(),
  queue_error,
})

export const ChangedMessage = Type.Object({ queue_id: Type.String(), status: Status })
