import { Type } from 'typebox'
import { defineEvent } from '../../../../events/events.ts'

const Moved = {
  move_id: Type.String({ examples: ['9f1c2a7be0d84c55a3f6d2b1907e4c18'] }),
  mailbox_id: Type.String({ examples: ['01K9ZS3M7GQ4T8V2X5Y6B1C0DE'] }),
  source: Type.String({ description: 'Name of the mail host', examples: ['mail1'] }),
  target: Type.String({ description: 'Name of the mail host', examples: ['mail2'] }),
}

export const MailboxMoved = defineEvent('mail_host.mailbox.moved', {
  source: 'api',
  summary: 'A mailbox is on another mail host now',
  data: Type.Object({ ...Moved, messages: Type.Integer({ examples: [1840] }) }),
})

export const MailboxMoveFailed = defineEvent('mail_host.move.failed', {
  source: 'api',
  summary: 'A mailbox stays on its mail host, because a move failed too often',
  data: Type.Object({
    ...Moved,
    error: Type.String({ examples: ['the copy differs from the mailbox'] }),
  }),
})
