import { Type } from 'typebox'
import { Body } from '../../../http/envelope.ts'

const MAX_SENT = 100

const Addresses = Type.Array(Type.String({ maxLength: 320 }), {
  maxItems: MAX_SENT,
  description: 'At most 5; the own address and what is no address are dropped',
  examples: [['jane@elsewhere.example']],
})

export const ForwardingSettings = Type.Object(
  {
    enabled: Type.Boolean(),
    addresses: Addresses,
    keep_copy: Type.Boolean({ description: 'A copy stays in this mailbox' }),
    managed: Type.Boolean({
      description: 'false: the script was written by another program; saving replaces it',
    }),
    loses_signatures: Type.Boolean({
      description:
        'Forwarded mail has no valid DKIM signature, because links of incoming mail are rewritten; other hosts may refuse it',
    }),
  },
  { title: 'MailboxForwarding' },
)

export const ForwardingBody = Body({
  enabled: Type.Optional(Type.Boolean({ default: false })),
  addresses: Type.Optional(Addresses),
  keep_copy: Type.Optional(Type.Boolean({ default: true })),
})
