import { defineError } from '../../../errors.ts'

export const IpRuleNotFound = defineError({ status: 404, message: 'IP access rule not found' })
export const IpRuleExists = defineError({
  status: 409,
  message: 'An identical rule already exists for this organization',
})
