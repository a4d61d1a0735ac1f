import { defineError } from '../../../errors.ts'

export const NoCleanupSettings = defineError({
  status: 400,
  message: 'No valid fields to update',
})
