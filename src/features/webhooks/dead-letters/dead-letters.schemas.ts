import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { DEAD_LETTER_STATUSES } from '../webhook-statuses.ts'

const Id = Type.Integer({ examples: [42] })
const EventType = Type.String({ examples: ['email.delivered'] })
const EndpointUrl = Type.String({
  description: 'The global URL is shown to platform callers only',
  examples: ['https://hooks.host.example/'],
})
const Note = Type.String({ description: 'The next steps' })
const exact = (description: string) => Type.Optional(Type.String({ description }))

export const DeadLetter = Type.Object(
  {
    id: Id,
    organization_id: Nullable(Type.String()),
    event_type: EventType,
    endpoint_id: Nullable(Type.String({ description: 'null: the global URL' })),
    endpoint_url: EndpointUrl,
    last_error: Type.String({ examples: ['Failed after 8 attempts: Timeout'] }),
    attempt_count: Type.Integer({ examples: [8] }),
    status: OneOf(DEAD_LETTER_STATUSES),
    created_at: Timestamp,
    last_attempted_at: Nullable(Timestamp),
    resolved_at: Nullable(Timestamp),
  },
  { title: 'WebhookDeadLetter' },
)

export const DeadLetterDetail = Type.Object(
  {
    ...DeadLetter.properties,
    payload: Nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description: 'The original envelope',
          examples: [{ id: '01K9ZQ5T3M8B7C6D5E4F3G2H1J', event: 'email.delivered' }],
        },
      ),
    ),
    replayable: Type.Boolean({
      description:
        'Neither resolved nor abandoned, its event can still be had, and its endpoint is active',
    }),
    payload_error: Type.Optional(
      Type.String({
        description: 'Only when the payload cannot be used',
        examples: ['the stored payload was truncated because of its size'],
      }),
    ),
  },
  { title: 'WebhookDeadLetterDetail' },
)

export const DeadLetterParams = Type.Object({ dead_letter_id: Type.String() })

export const DeadLetterQuery = Type.Object({
  ...PageQuery,
  status: exact(`One of ${DEAD_LETTER_STATUSES.join(', ')}; in any case`),
  event_type: exact('Exact'),
  endpoint_id: exact('Exact'),
  organization_id: exact('Platform callers only'),
})

const reason = Type.String({
  minLength: 10,
  description: 'Kept in the audit trail',
  examples: ['The receiver is up again'],
})

export const Replay = Body({ reason })
export const Resolve = Body({ reason })

export const BulkReplay = Body({
  dead_letter_ids: Type.Array(
    Type.Unsafe<string | number>({ type: ['string', 'integer'], examples: ['42'] }),
    { minItems: 1, description: 'At most 100; repeated ones count once' },
  ),
  reason,
})

export const ResolvedLetter = Type.Object(
  { id: Id, status: Type.Literal('resolved'), resolved_at: Timestamp },
  { title: 'ResolvedLetter' },
)

const Replayed = {
  id: Id,
  event_type: EventType,
  endpoint_url: EndpointUrl,
  status: Type.Literal('retrying'),
}

export const ReplayedLetter = Type.Object({ ...Replayed, note: Note }, { title: 'ReplayedLetter' })

export const ReplayedLetters = Type.Object(
  {
    replayed: Type.Array(Type.Object(Replayed)),
    failed: Type.Array(
      Type.Object({
        id: Type.Unsafe<string | number>({
          type: ['integer', 'string'],
          description: 'As in the list; what is no number, as it was sent',
          examples: [43],
        }),
        error: Type.String({ examples: ['not found'] }),
      }),
    ),
    requested: Type.Integer({ description: 'Different ids in the request', examples: [2] }),
    note: Note,
  },
  { title: 'ReplayedLetters' },
)
