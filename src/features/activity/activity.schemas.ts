import { Type } from 'typebox'
import { Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'

const KINDS = ['event', 'operator'] as const

export const ActivityQuery = Type.Object({
  ...PageQuery,
  kind: Type.Optional(
    OneOf(KINDS, { description: 'event: what happened; operator: what an operator changed' }),
  ),
  action: Type.Optional(
    Type.String({ description: 'Exact, or a family of events such as `mailbox.*`' }),
  ),
  q: Type.Optional(Type.String({ description: 'Part of action or subject' })),
  date_from: Type.Optional(Type.String({ description: 'ISO date or datetime, inclusive' })),
  date_to: Type.Optional(
    Type.String({
      description: 'ISO date or datetime, inclusive; a date means the end of that day',
    }),
  ),
  organization_id: Type.Optional(
    Type.String({ description: 'For platform callers; a tenant always gets its own' }),
  ),
})

export const Activity = Type.Object(
  {
    id: Type.String({ description: 'Unique together with kind' }),
    kind: OneOf(KINDS),
    action: Type.String({
      examples: ['mailbox.created'],
      description: 'The name of the event, or the operation that an operator called',
    }),
    summary: Type.String({ examples: ['A mailbox was created'] }),
    subject: Nullable(
      Type.String({
        examples: ['jane@acme.example'],
        description: 'The name of what it is about, where it has one',
      }),
    ),
    created_at: Timestamp,
  },
  { title: 'Activity' },
)
