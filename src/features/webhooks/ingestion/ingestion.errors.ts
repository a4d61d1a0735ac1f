import { defineError } from '../../../errors.ts'

export const NoEmlContent = defineError({ status: 400, message: 'No EML content provided' })
export const InvalidAlerts = defineError({ status: 400, message: 'Invalid JSON payload' })
export const InvalidAction = defineError({
  status: 400,
  message: 'action must be a word of 1 to 40 letters, digits, dashes or underscores',
})
