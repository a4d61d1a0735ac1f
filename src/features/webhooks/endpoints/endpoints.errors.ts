import { defineError } from '../../../errors.ts'

export const EndpointNotFound = defineError({ status: 404, message: 'Webhook endpoint not found' })
export const EndpointInactive = defineError({
  status: 404,
  message: 'Webhook endpoint not found or inactive',
})
export const TooManyEndpoints = defineError<number>({
  status: 409,
  code: 'TOO_MANY_ENDPOINTS',
  message: (limit) =>
    `An organization can have ${limit} webhook endpoints at most; delete one that is not needed`,
})
export const UrlRequired = defineError({ status: 400, message: 'url is required' })
export const NothingToUpdate = defineError({ status: 400, message: 'No valid fields to update' })
export const InvalidEndpoint = defineError<string>({ status: 400, message: (text) => text })
