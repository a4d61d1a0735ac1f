import { defineError } from '../../../errors.ts'

export const ScheduleNotFound = defineError({ status: 404, message: 'Warm-up schedule not found' })
export const ScheduleExists = defineError({
  status: 409,
  message: 'The IP address has a warm-up schedule; change or delete it',
})
export const SeveralSenders = defineError({
  status: 409,
  message:
    'Mail is paced in one queue, and several mail hosts have the role submission or outbound',
})
export const LimitNotFound = defineError({
  status: 404,
  message: 'No limit is set for this domain',
})
export const NothingToChange = defineError({
  status: 400,
  message: 'No updatable fields provided',
})
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
