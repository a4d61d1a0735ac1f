import { defineError } from '../../../errors.ts'

export const OauthClientNotFound = defineError({ status: 404, message: 'OAuth client not found' })

export const OauthSecretNotUsed = defineError({
  status: 409,
  message: 'A public client has no secret',
})

export const OauthRightsExceeded = defineError({
  status: 403,
  code: 'SCOPES_EXCEEDED',
  message: 'A client can only get the rights of a key that the caller has itself',
})

export const TooManyOauthClients = defineError<{ limit: number }>({
  status: 409,
  code: 'TOO_MANY_OAUTH_CLIENTS',
  message: ({ limit }) => `There are already ${limit} OAuth clients; delete some of them first`,
  data: ({ limit }) => ({ limit }),
})
