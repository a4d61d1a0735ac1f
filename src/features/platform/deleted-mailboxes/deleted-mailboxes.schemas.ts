import { Type } from 'typebox'
import { Nullable, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'

export const DeletedQuery = Type.Object({
  ...PageQuery,
  organization_id: Type.Optional(Type.String({ description: 'Exact' })),
  q: Type.Optional(Type.String({ description: 'Part of the address' })),
})

export const DeletedMailbox = Type.Object(
  {
    id: Type.String({ description: 'The id that the mailbox had' }),
    organization_id: Type.String(),
    email: Type.String({ examples: ['ada@acme.example'] }),
    deleted_at: Timestamp,
    purge_after: Type.String({
      format: 'date-time',
      description: 'Its mail is removed at the next run of the job after this time, unless held',
    }),
    held: Type.Boolean({ description: 'A legal hold keeps the mail' }),
    attempts: Type.Integer({ description: 'Attempts to remove the mail so far' }),
    error_message: Nullable(Type.String({ description: 'Reason that the last attempt failed' })),
  },
  { title: 'DeletedMailbox' },
)
