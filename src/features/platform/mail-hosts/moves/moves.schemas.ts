import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../../http/envelope.ts'
import { PageQuery } from '../../../../http/paging.ts'

export const MOVE_STATES = [
  'waiting',
  'copying',
  'locked',
  'switched',
  'done',
  'failed',
  'cancelled',
] as const

export const MailboxMove = Type.Object(
  {
    id: Type.String(),
    mailbox_id: Type.String(),
    organization_id: Type.String(),
    email: Nullable(Type.String({ examples: ['ada@acme.example'] })),
    source: Type.String({ description: 'Name of the host', examples: ['mail1'] }),
    target: Type.String({ description: 'Name of the host', examples: ['mail2'] }),
    state: OneOf(MOVE_STATES, {
      description:
        'locked: logins and deliveries wait for the last copy; switched: the mailbox is on the new host, and the proxies are being notified',
    }),
    messages: Nullable(
      Type.Integer({ description: 'Counted on both hosts before the mailbox changed its host' }),
    ),
    attempts: Type.Integer({ description: 'Attempts that failed so far' }),
    error_message: Nullable(Type.String({ description: 'Reason that the last attempt failed' })),
    due_at: Type.String({ format: 'date-time', description: 'Not continued before this time' }),
    created_at: Timestamp,
    finished_at: Nullable(Timestamp),
  },
  { title: 'MailboxMove' },
)

export const MoveParams = Type.Object({ move_id: Type.String() })

export const MoveQuery = Type.Object({
  ...PageQuery,
  state: Type.Optional(OneOf(MOVE_STATES)),
  host_id: Type.Optional(Type.String({ description: 'From or to this host' })),
})

export const NewMove = Body({
  email: Type.String({
    maxLength: 254,
    description: 'A mailbox or a shared mailbox',
    examples: ['ada@acme.example'],
  }),
  host_id: Type.String({ description: 'The backend that gets the mailbox' }),
})

export const MovesStarted = Type.Object({
  moves: Type.Array(MailboxMove, {
    description: 'Shared mailboxes and their members move together',
  }),
})
