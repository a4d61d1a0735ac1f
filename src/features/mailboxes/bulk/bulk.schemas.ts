import { Type } from 'typebox'
import { Body } from '../../../http/envelope.ts'
import { NewAccount } from '../mailboxes.schemas.ts'

export const MAX_ACCOUNTS = 500

export const BulkBody = Body({
  accounts: Type.Array(NewAccount, { description: `At most ${MAX_ACCOUNTS}` }),
})

export const BulkResult = Type.Object({
  summary: Type.Object({
    total: Type.Integer(),
    success: Type.Integer(),
    errors: Type.Integer(),
  }),
  results: Type.Array(
    Type.Object({
      email: Type.String({ examples: ['jane@acme.example'] }),
      status: Type.String({ description: 'success or error', examples: ['success'] }),
      msg: Type.String(),
      account_id: Type.Optional(Type.String({ description: 'Of the new mailbox' })),
      error_code: Type.Optional(Type.String({ examples: ['MAILBOX_ALREADY_EXISTS'] })),
    }),
    { description: 'One result for each mailbox, in the order of the request' },
  ),
})
