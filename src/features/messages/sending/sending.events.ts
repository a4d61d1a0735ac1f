import { Type } from 'typebox'
import { defineEvent } from '../../../events/events.ts'

const Sent = {
  message_id: Type.String({ description: 'As in the message, with its angle brackets' }),
  sender: Type.String(),
  recipient: Type.String(),
}

export const EmailAccepted = defineEvent('email.accepted', {
  source: 'api',
  summary: 'A message that was sent through the API was taken for delivery',
  data: Type.Object({
    ...Sent,
    template_id: Type.Optional(
      Type.String({
        description: 'The template that it was made from',
        examples: ['01JD2X7V7K5V8M6Q0A3C9F4W2E'],
      }),
    ),
  }),
})

export const EmailDropped = defineEvent('email.dropped', {
  source: 'api',
  summary: 'A message that was sent through the API was not delivered, and there is no bounce',
  data: Type.Object({
    ...Sent,
    reason: Type.String({
      description: '`suppressed`, or the reply of the mail server',
      examples: ['suppressed'],
    }),
  }),
})
