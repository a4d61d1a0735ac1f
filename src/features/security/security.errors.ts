import { defineError } from '../../errors.ts'

export const OrganizationNotFound = defineError({ status: 404, message: 'Organization not found' })
export const NoUpdatableFields = defineError({
  status: 400,
  message: 'No updatable fields provided',
})
