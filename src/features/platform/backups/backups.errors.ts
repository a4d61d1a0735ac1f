import { defineError } from '../../../errors.ts'

export const BackupHostNotFound = defineError({
  status: 404,
  message: 'No backup of this host was reported',
})
