import { defineError } from '../../../errors.ts'

export const OperatorNotFound = defineError({ status: 404, message: 'Operator not found' })
export const OperatorEmailTaken = defineError({
  status: 409,
  message: 'An operator with that email already exists',
})
export const OwnRoleOrStatus = defineError({
  status: 403,
  message: 'An operator cannot change their own role or active status',
})
export const OwnMfaReset = defineError({
  status: 403,
  message: 'An operator cannot reset their own MFA enrollment',
})
export const NoUpdatableFields = defineError({
  status: 400,
  message: 'No updatable fields provided',
})
export const OwnPasswordReset = defineError({
  status: 403,
  message: 'An operator changes the own password with platform/auth/password',
})
export const OperatorDeactivated = defineError({
  status: 409,
  message: 'The operator is deactivated; activate the operator first',
})
