import { defineError } from '../../errors.ts'

export const ApiKeyNotFound = defineError({ status: 404, message: 'API key not found' })
export const SelfServiceKeysOff = defineError({
  status: 403,
  code: 'SELF_SERVICE_KEYS_OFF',
  message: 'API keys are managed by the operator of this installation; ask there for a key',
})
export const ApiKeyRevoked = defineError({
  status: 409,
  message: 'The API key is revoked or expired; create a new one',
})
export const ScopesExceeded = defineError({
  status: 403,
  code: 'SCOPES_EXCEEDED',
  message: 'A key can only give scopes that it has itself, and no later expiry',
})
export const TooManyKeys = defineError<{ limit: number }>({
  status: 409,
  code: 'TOO_MANY_API_KEYS',
  message: ({ limit }) => `There are already ${limit} active API keys; revoke some of them first`,
  data: ({ limit }) => ({ limit }),
})
