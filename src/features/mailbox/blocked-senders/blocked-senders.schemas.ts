import { Type } from 'typebox'
import { Body } from '../../../http/envelope.ts'

export const BlockedSenders = Type.Object(
  {
    addresses: Type.Array(Type.String(), {
      description: 'In the order they were blocked',
      examples: [['noise@elsewhere.example']],
    }),
    managed: Type.Boolean({
      description: 'false: the script was written by another program; saving replaces it',
    }),
    folder: Type.String({ description: 'Folder that their mail goes to', examples: ['Junk'] }),
    limit: Type.Integer({
      description: 'Number of addresses that can be blocked',
      examples: [500],
    }),
  },
  { title: 'MailboxBlockedSenders' },
)

export const BlockBody = Body({
  address: Type.String({ minLength: 3, maxLength: 320, examples: ['noise@elsewhere.example'] }),
})

export const BlockedParams = Type.Object({ address: Type.String() })
