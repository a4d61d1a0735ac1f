import { defineError } from '../../../errors.ts'

export const InvalidIp = defineError({
  status: 422,
  message: 'client_ip must be a valid IPv4 or IPv6 address',
})
export const NoFailuresOfIp = defineError({
  status: 404,
  message: 'No failed authentication attempts found for this IP',
})
export const NoBlockOfIp = defineError({
  status: 404,
  message: 'No active block found for this IP',
})
