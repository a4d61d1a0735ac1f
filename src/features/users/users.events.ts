import { Type } from 'typebox'
import { USER_ROLES } from '../../access/caller.ts'
import { defineEvent } from '../../events/events.ts'
import { OneOf } from '../../http/envelope.ts'

const Named = {
  user_id: Type.String({ examples: ['01K9ZQ5T3M8B7C6D5E4F3G2H1U'] }),
  email: Type.String({ examples: ['ada@acme.example'] }),
  organization_id: Type.String(),
}
const Role = OneOf(USER_ROLES, { examples: ['admin'] })

export const UserInvited = defineEvent('user.invited', {
  source: 'api',
  summary: 'A person was invited to the dashboard of an organization',
  data: Type.Object({ ...Named, role: Role }),
})

export const UserJoined = defineEvent('user.joined', {
  source: 'api',
  summary: 'An invited person set a password and can sign in',
  data: Type.Object({ ...Named, role: Role }),
})

export const UserUpdated = defineEvent('user.updated', {
  source: 'api',
  summary: 'Name, role or status of a dashboard user was changed',
  data: Type.Object({
    ...Named,
    role: Role,
    is_active: Type.Boolean(),
    updated_fields: Type.Array(Type.String()),
  }),
})

export const UserDeleted = defineEvent('user.deleted', {
  source: 'api',
  summary: 'A dashboard user or an open invitation was deleted',
  data: Type.Object(Named),
})

export const UserSessionsRevoked = defineEvent('user.sessions.revoked', {
  source: 'api',
  summary: 'Sessions of a dashboard user were ended by another person',
  data: Type.Object({ ...Named, revoked: Type.Integer() }),
})

export const PasswordResetRequested = defineEvent('user.password.reset_requested', {
  source: 'api',
  summary: 'A link to set a new password was created for a dashboard user',
  data: Type.Object(Named),
})

/** `user` is the e-mail address, as in the events of other services. */
const Login = { ...Named, user: Type.String({ examples: ['ada@acme.example'] }) }

export const UserPasswordChanged = defineEvent('auth.password.changed', {
  source: 'api',
  summary: 'A dashboard user has a new password',
  data: Type.Object({
    ...Login,
    changed_by: Type.String({
      description: 'user (with the old password) or link (by mail)',
      examples: ['user'],
    }),
    sessions_revoked: Type.Integer(),
  }),
})

const Factor = { ...Login, method: Type.Literal('totp') }

export const UserTwoFactorEnabled = defineEvent('auth.totp.enabled', {
  source: 'totp',
  summary: 'A dashboard user enabled a second factor',
  data: Type.Object(Factor),
})

export const UserTwoFactorDisabled = defineEvent('auth.totp.disabled', {
  source: 'totp',
  summary: 'The second factor of a dashboard user was disabled or cleared',
  data: Type.Object({
    ...Factor,
    disabled_by: Type.String({ description: 'user, or admin for a reset', examples: ['user'] }),
  }),
})

interface UserNames {
  id: string
  email: string
  organization_id: string
}

export const userSubject = ({ organization_id }: UserNames) => ({ org_id: organization_id })

export const userData = ({ id, email, organization_id }: UserNames) => ({
  user_id: id,
  email,
  organization_id,
})

export const loginData = (user: UserNames) => ({ ...userData(user), user: user.email })
