import { defineError } from '../../../errors.ts'

export const PolicyNotFound = defineError({ status: 404, message: 'DLP policy not found' })
export const ViolationNotFound = defineError({ status: 404, message: 'DLP violation not found' })
export const NothingToUpdate = defineError({ status: 400, message: 'No updatable fields provided' })
export const PolicyNameTaken = defineError({
  status: 409,
  message: 'A DLP policy with that name already exists for this organization',
})
