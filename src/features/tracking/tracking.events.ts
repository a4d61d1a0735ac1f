import { Type } from 'typebox'
import { defineEvent } from '../../events/events.ts'

const source = 'tracking'
const text = (description: string) => Type.Optional(Type.String({ description }))
const message = {
  email_id: Type.String({ description: 'Message-ID without its angle brackets' }),
  message_id: Type.String({ description: '`email_id` up to its at sign', examples: ['m1'] }),
}
const person = {
  ...message,
  recipient: Type.String(),
  organization_id: Type.String(),
  ip_address: text('From where; shortened when the host does not keep addresses'),
  user_agent: text('`User-Agent` of the reading program'),
}

export const TrackingOpen = defineEvent('tracking.open', {
  source,
  summary: 'A recipient opened a message',
  data: Type.Object(person),
})
export const TrackingClick = defineEvent('tracking.click', {
  source,
  summary: 'A recipient followed a link of a message',
  data: Type.Object({ ...person, url: Type.String() }),
})
export const TrackingUnsubscribe = defineEvent('tracking.unsubscribe', {
  source,
  summary: 'A recipient wants no more mail from a sender',
  data: Type.Object({
    email: Type.String(),
    reason: Type.String({ examples: ['one-click-post'] }),
    ...message,
    organization_id: Type.String(),
  }),
})
export const Complaint = defineEvent('delivery.complaint', {
  source,
  summary: 'A recipient called a message spam',
  data: Type.Object({
    recipient: Type.String(),
    complaint_type: Type.String(),
    organization_id: text('Organization that sent it'),
    email_id: text('Message-ID without its angle brackets'),
  }),
})

export const messageIdOf = (emailId: string): string => emailId.split('@', 1)[0] as string
