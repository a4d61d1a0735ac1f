import { defineError } from '../../errors.ts'

export const NoCustomDomain = defineError({
  status: 400,
  message: 'No custom_domain is saved; set one first',
})
export const CustomDomainTaken = defineError({
  status: 409,
  message: 'Another organization has this custom_domain',
})
export const NoBrandFields = defineError({
  status: 400,
  message: 'No updatable fields provided',
})
