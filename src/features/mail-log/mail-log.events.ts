import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

const Attempted = Type.Object({
  message_id: text('As in the message, with its angle brackets'),
  queue_id: Type.String({ description: '`NOQUEUE` when it was refused before it had one' }),
  sender: Type.String({ description: 'Of the envelope; empty for a notification' }),
  from: Type.String({ description: 'The same as `sender`' }),
  recipient: Type.String(),
  to: Type.String({ description: 'The same as `recipient`' }),
  domain: Type.String({ description: 'Hosted here: of the sender, else of the recipient' }),
  organization_id: text('Organization of that domain'),
  status: Type.String({ description: 'delivered, bounced, deferred or rejected' }),
  subject: text('As far as the mail server logs it'),
  relay: text('Server that the message was handed to'),
  dsn: text('Enhanced status, such as 2.0.0'),
  size: Type.Optional(Type.Integer({ description: 'Bytes' })),
  detail: Type.String({ description: 'Answer of the other server' }),
  timestamp: Type.String({ format: 'date-time' }),
})

const attempted = (status: string, summary: string) =>
  defineEvent(`email.${status}`, { source: 'log_ingestor', summary, data: Attempted })

export const EmailDelivered = attempted('delivered', 'A message was delivered to a recipient')
export const EmailBounced = defineEvent('email.bounced', {
  source: 'log_ingestor',
  summary: 'A message could not be delivered, for good',
  data: Type.Object({
    ...Attempted.properties,
    bounce_type: text('HARD, SOFT or BLOCK, where another service has reported it'),
    bounce_reason: text('The same as `detail`, where another service has reported it'),
  }),
})
export const EmailDeferred = attempted('deferred', 'A message could not be delivered yet')
export const EmailRejected = attempted('rejected', 'A message was refused when it was handed in')

const Bounced = Type.Object({
  recipient: Type.String(),
  bounce_type: Type.String({ description: 'HARD, SOFT, or BLOCK where we are not wanted' }),
  bounce_reason: Type.String(),
  message_id: text('As in the message'),
  tracking_id: text("Of the recipient's copy, where the report names it"),
})

export const HardBounce = defineEvent('delivery.bounce.hard', {
  source: 'postfix',
  summary:
    'A message with a login came back from an address that will never work; it is suppressed from now on',
  data: Bounced,
})
export const SoftBounce = defineEvent('delivery.bounce.soft', {
  source: 'postfix',
  summary: 'A message came back from an address that may work another time',
  data: Bounced,
})
