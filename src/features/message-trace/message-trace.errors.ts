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
export const MessageOnHold = defineError({
  status: 409,
  code: 'legal_hold_active',
  message: 'A legal hold covers an address of this message; release the hold first',
})
export const MessageRefused = defineError<string>({
  status: 502,
  message: (reply) => `The mail server refused the message: ${reply}`,
})
export const BlockedSenderNotFound = defineError({
  status: 404,
  message: 'Blocked sender not found',
})
/** Rows of both sides are merged in memory, up to this number. */
export const OffsetTooLarge = defineError({
  status: 422,
  message:
    'Only the newest 10000 rows can be listed where past days are among them; narrow it down by start_date and end_date',
})
