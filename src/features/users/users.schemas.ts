import { Type } from 'typebox'
import { USER_ROLES } from '../../access/caller.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { PADDED_EMAIL_PATTERN } from '../../lib/email.ts'

export const STATUSES = ['invited', 'active', 'disabled'] as const

const Link = Type.Object(
  {
    kind: OneOf(['invitation', 'password_reset']),
    expires_at: Timestamp,
    expired: Type.Boolean(),
    mail_status: OneOf(['pending', 'sent', 'failed', 'none'], {
      description: 'none: created on the host and not mailed',
    }),
    mail_error: Nullable(Type.String({ description: 'Reason that the mail could not be sent' })),
  },
  { title: 'AccountLink' },
)

export const DashboardUser = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    organization_name: Type.String(),
    email: Type.String({ examples: ['ada@acme.example'] }),
    full_name: Nullable(Type.String()),
    role: OneOf(USER_ROLES),
    status: OneOf(STATUSES, { description: 'invited: has not set a password yet' }),
    is_active: Type.Boolean({ description: 'false: disabled' }),
    two_factor_enabled: Type.Boolean(),
    last_login_at: Nullable(Timestamp),
    active_session_count: Type.Integer(),
    open_link: Nullable(Link),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'DashboardUser' },
)

/** The link itself goes to the mail address; only a platform caller gets it in the response. */
const LinkForPlatform = Type.Optional(
  Type.String({ description: 'For platform callers only, to be handed over when mail fails' }),
)

export const InvitedUser = Type.Object({ ...DashboardUser.properties, link: LinkForPlatform })

export const UserParams = Type.Object({ user_id: Type.String() })
export const UserSessionParams = Type.Object({ user_id: Type.String(), session_id: Type.String() })

export const OrganizationQuery = Type.Object({
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
})

export const UserQuery = Type.Object({
  ...PageQuery,
  ...OrganizationQuery.properties,
  q: Type.Optional(Type.String({ description: 'Part of email or full name' })),
  role: Type.Optional(OneOf(USER_ROLES)),
  status: Type.Optional(OneOf(STATUSES)),
})

const FullName = Type.String({ minLength: 1, maxLength: 255, examples: ['Ada Lovelace'] })

export const NewUser = Body({
  email: Type.String({
    pattern: PADDED_EMAIL_PATTERN,
    maxLength: 254,
    examples: ['ada@acme.example'],
  }),
  full_name: Type.Optional(FullName),
  role: Type.Optional(OneOf(USER_ROLES, { default: 'admin' })),
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
})

export const UserChange = Body({
  full_name: Type.Optional(Nullable(FullName)),
  role: Type.Optional(OneOf(USER_ROLES)),
  is_active: Type.Optional(Type.Boolean()),
})

export const LinkCreated = Type.Object({
  user_id: Type.String(),
  expires_at: Timestamp,
  link: LinkForPlatform,
})

export const TwoFactorReset = Type.Object({
  user_id: Type.String(),
  two_factor_cleared: Type.Boolean({ description: 'A second factor was enrolled' }),
  sessions_revoked: Type.Integer(),
})

export const UserSession = Type.Object(
  {
    id: Type.String(),
    ip_address: Type.String({ examples: ['192.0.2.7'] }),
    user_agent: Nullable(Type.String()),
    created_at: Timestamp,
    expires_at: Timestamp,
    absolute_expiry: Timestamp,
    is_current: Type.Boolean({ description: 'The session of this request' }),
  },
  { title: 'UserSession' },
)

export const SessionsRevoked = Type.Object({
  user_id: Type.String(),
  revoked: Type.Integer({ description: 'Sessions that this call ended' }),
})

export const UserPolicy = Type.Object(
  {
    organization_id: Type.String(),
    require_two_factor: Type.Boolean({
      description: 'Users without a second factor can only set one up',
    }),
    users_without_two_factor: Type.Integer(),
  },
  { title: 'UserPolicy' },
)

export const PolicyChange = Body({
  require_two_factor: Type.Boolean({ examples: [false] }),
  organization_id: Type.Optional(Type.String({ description: 'For platform callers' })),
})
