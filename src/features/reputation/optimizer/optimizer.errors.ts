import { defineError } from '../../../errors.ts'

export const ScheduleNotFound = defineError({ status: 404, message: 'Warm-up schedule not found' })
export const NotAnAddress = defineError<string>({
  status: 422,
  message: (field) => `${field} must be an IPv4 or IPv6 address`,
})
export const NotADomain = defineError<string>({
  status: 422,
  message: (field) => `${field} must be a domain name`,
})
export const NoSuchOrganization = defineError({
  status: 422,
  message: 'organization_id does not exist',
})
