import { defineError } from '../../errors.ts'

export const UserNotFound = defineError({ status: 404, message: 'User not found' })
export const UserSessionNotFound = defineError({ status: 404, message: 'Session not found' })
export const UserAlreadyInvited = defineError({
  status: 409,
  code: 'USER_EXISTS',
  message: 'The organization already has a user with that email',
})
export const UserHasJoined = defineError({
  status: 409,
  message: 'The user has already accepted the invitation; reset the password instead',
})
export const UserHasNotJoined = defineError({
  status: 409,
  message: 'The user has not accepted the invitation yet; send it again instead',
})
export const UserIsDisabled = defineError({
  status: 409,
  message: 'The user is disabled; enable the user first',
})
export const OwnersManageOwners = defineError({
  status: 403,
  message: 'Only an owner of the organization can add, change or remove an owner',
})
export const OwnUser = defineError({
  status: 403,
  message: 'Users cannot change their own role or status, nor delete themselves',
})
export const LastOwner = defineError({
  status: 409,
  code: 'LAST_OWNER',
  message: 'This is the last active owner; make another user an owner first',
})
export const TooManyInvitations = defineError<{ limit: number }>({
  status: 409,
  code: 'TOO_MANY_INVITATIONS',
  message: ({ limit }) => `There are already ${limit} open invitations; delete some of them first`,
  data: ({ limit }) => ({ limit }),
})
export const OwnSecondFactorMissing = defineError({
  status: 409,
  code: 'OWN_TWO_FACTOR_MISSING',
  message: 'Enable your own second factor first; otherwise this would end your session',
})
export const OrganizationRequired = defineError({
  status: 400,
  message: 'organization_id is required for a platform-scope caller',
})
