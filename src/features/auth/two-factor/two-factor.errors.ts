import { defineError } from '../../../errors.ts'

export const TwoFactorEnabled = defineError({
  status: 409,
  message: 'The second factor is already enabled; disable it first',
})
export const TwoFactorNotBegun = defineError({
  status: 409,
  message: 'No second factor is enabled or waits for its code; begin with setup',
})
export const TwoFactorNotEnabled = defineError({
  status: 409,
  message: 'The second factor is not enabled',
})
export const TwoFactorRequired = defineError({
  status: 409,
  code: 'TWO_FACTOR_REQUIRED',
  message: 'The organization requires a second factor',
})
