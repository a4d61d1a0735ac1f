import { defineError } from '../../errors.ts'

export const UNAVAILABLE = 'Rate limiter service unavailable'

const INVALID_DIRECTION = 'Invalid direction'

export const InvalidDirection = defineError({
  status: 400,
  message: INVALID_DIRECTION,
  fields: { error: INVALID_DIRECTION },
})
export const InvalidEntityType = defineError({ status: 400, message: 'Invalid entity type' })

const resetError = (message: string) =>
  defineError({ status: 400, message, fields: { success: false, message } })
export const MissingIdentifier = resetError('Missing identifier')
export const InvalidResetDirection = resetError(INVALID_DIRECTION)

export const ResetByOperators = defineError({
  status: 403,
  message: 'Only the operator of this host can reset these counters',
})

export const LimitedMailboxNotFound = defineError({ status: 404, message: 'Mailbox not found' })
