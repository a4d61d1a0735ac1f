import { defineError } from '../../../errors.ts'

export const TwoFactorEnabled = defineError({
  status: 409,
  message: 'Two-factor authentication is already enabled; disable it first',
})
export const TwoFactorNotEnabled = defineError({
  status: 409,
  message: 'Two-factor authentication is not enabled',
})
export const TwoFactorNotBegun = defineError({
  status: 409,
  message: 'No two-factor setup is waiting for its code; begin with setup',
})
// Not 401: the session itself is fine.
export const InvalidTwoFactorCode = defineError({
  status: 400,
  message: 'Invalid two-factor code',
})
