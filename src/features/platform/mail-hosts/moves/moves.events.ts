import { Type } from 'typebox'
import { defineEvent } from '../../../../events/events.ts'

const Moved = {
  move_id: Type.String(),
  mailbox_id: Type.String(),
  source: Type.String({ description: 'Name of the mail host', examples: ['mail1'] }),
  target: Type.String({ description: 'Name of the mail host', examples: ['mail2'] }),
}

export const MailboxMoved = defineEvent('mail_host.mailbox.moved', {
  source: 'api',
  summary: 'A mailbox is on another mail host now',
  data: Type.Object({ ...Moved, messages: Type.Integer() }),
})

export const MailboxMoveFailed = defineEvent('mail_host.move.failed', {
  source: 'api',
  summary: 'A mailbox stays on its mail host, because a move failed too often',
  data: Type.Object({ ...Moved, error: Type.String() }),
})
