import { defineError } from '../../errors.ts'

export const MessageNotFound = defineError({ status: 404, message: 'Message not found' })
export const QuarantinedMessageNotFound = defineError({
  status: 404,
  message: 'Quarantined message not found',
})
export const CannotDecide = defineError<string>({
  status: 409,
  message: (why) => `The message ${why}`,
})
export const MessageRefused = defineError<string>({
  status: 502,
  message: (reply) => `The mail server refused the message: ${reply}`,
})
export const BlockedSenderNotFound = defineError({
  status: 404,
  message: 'Blocked sender not found',
})
