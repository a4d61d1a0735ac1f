import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'
import { Domain } from '../domains/domains.schemas.ts'
import { FreeForm, Organization } from '../organizations/organizations.schemas.ts'
import { STATUSES } from './mailboxes.rules.ts'

const Quota = Type.Integer({
  description:
    "Bytes; 0 = no limit of its own, the domain's applies. The sum over a domain is bounded by its max_quota",
  examples: [1073741824],
})
const Bytes = Type.Integer({ description: 'Bytes' })

export const EmailAccount = Type.Object(
  {
    id: Type.String(),
    domain_id: Type.String(),
    organization_id: Type.String({ description: 'Always that of the domain' }),
    email: Type.String({ examples: ['jane@acme.example'] }),
    local_part: Type.String({ examples: ['jane'] }),
    external_id: Nullable(Type.String()),
    name: Nullable(Type.String({ examples: ['Jane Doe'] })),
    status: OneOf(STATUSES),
    storage_quota: Quota,
    storage_used: Bytes,
    attachment_storage_used: Bytes,
    email_storage_used: Bytes,
    total_files: Type.Integer(),
    total_attachments: Type.Integer(),
    total_emails: Type.Integer(),
    rate_limits: FreeForm('Limits of the rate limiter'),
    storage_quotas: FreeForm('Free-form'),
    rate_usage_data: Nullable(
      FreeForm('Counts of the rate limiter by direction, at most a minute old'),
    ),
    forward_enabled: Type.Boolean(),
    forward_destination: Nullable(Type.String()),
    vacation_enabled: Type.Boolean(),
    vacation_message: Nullable(Type.String()),
    last_login: Nullable(Timestamp),
    last_activity: Nullable(Timestamp),
    last_storage_calculation: Nullable(Timestamp),
    must_change_password: Type.Boolean(),
    password_change_reason: Nullable(
      Type.String({ description: 'temporary, admin_reset or expired', examples: ['temporary'] }),
    ),
    password_changed_at: Nullable(Timestamp),
    quota_override: Type.Boolean({
      description: 'An operator set the quotas; tenants cannot change them',
    }),
    quota_override_at: Nullable(Timestamp),
    quota_override_by: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'EmailAccount' },
)

export const EmailAccountListItem = Type.Object(
  {
    ...EmailAccount.properties,
    domain_name: Type.String({ examples: ['acme.example'] }),
    organization_name: Type.String(),
  },
  { title: 'EmailAccountListItem' },
)

export const EmailAccountDetail = Type.Object(
  { ...EmailAccount.properties, domain: Domain, organization: Organization },
  { title: 'EmailAccountDetail' },
)

export const AccountQuery = Type.Object({
  ...PageQuery,
  ...SortQuery(['email', 'created_at', 'storage_used', 'last_login']),
  q: Type.Optional(Type.String({ description: 'Part of the address or the name' })),
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
  domain_id: Type.Optional(Type.String()),
  status: Type.Optional(OneOf(STATUSES)),
})

export const AccountParams = Type.Object({ account_id: Type.String() })

export const NewPassword = Type.String({
  description: '12 characters or more, with letters and numbers, not a common one',
  examples: ['a-long-passphrase-1'],
})

const fields = {
  name: Type.Optional(Nullable(Type.String({ maxLength: 255, examples: ['Jane Doe'] }))),
  status: Type.Optional(OneOf(STATUSES)),
  storage_quota: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        "Bytes; 0 = no limit of its own, the domain's applies. Left out, a new mailbox gets 1 GiB, or 0 when the domain has less left to allot",
      examples: [1073741824],
    }),
  ),
  rate_limits: Type.Optional(
    FreeForm('Limits of the rate limiter; replaces the whole object', { outbound_hourly: 100 }),
  ),
  storage_quotas: Type.Optional(FreeForm('Free-form')),
  forward_enabled: Type.Optional(Type.Boolean()),
  forward_destination: Type.Optional(
    Nullable(Type.String({ description: 'Addresses, with commas between them' })),
  ),
  vacation_enabled: Type.Optional(Type.Boolean()),
  vacation_message: Type.Optional(Nullable(Type.String({ maxLength: 20000 }))),
  external_id: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
}

export const NewAccount = Body({
  email: Type.String({
    maxLength: 254,
    description: 'At a domain that is there and active; the organization is that of the domain',
    examples: ['jane@acme.example'],
  }),
  password: NewPassword,
  ...fields,
})

export const AccountChange = Body({
  password: Type.Optional(NewPassword),
  ...fields,
})

export const QuotaChange = Body({
  storage_quota: fields.storage_quota,
  rate_limits: fields.rate_limits,
  storage_quotas: fields.storage_quotas,
})

export const AccountQuotas = Type.Object({
  account_id: Type.String(),
  email: Type.String(),
  storage_quota: Quota,
  storage_used: Bytes,
  attachment_storage_used: Bytes,
  email_storage_used: Bytes,
  usage_percentage: Type.Number(),
  total_files: Type.Integer(),
  total_attachments: Type.Integer(),
  total_emails: Type.Integer(),
  rate_limits: FreeForm('As stored'),
  storage_quotas: FreeForm('As stored'),
  last_storage_calculation: Nullable(Timestamp),
  over_threshold: Type.Boolean({ description: '80 percent or more is used' }),
  quota_override: Type.Boolean(),
  quota_override_at: Nullable(Timestamp),
  quota_override_by: Nullable(Type.String()),
})

export const ChangedQuotas = Type.Object({
  account_id: Type.String(),
  storage_quota: Quota,
  rate_limits: FreeForm('As stored'),
  storage_quotas: FreeForm('As stored'),
  quota_override: Type.Boolean(),
})

export const PasswordReset = Body({
  new_password: NewPassword,
  temporary: Type.Optional(
    Type.Boolean({ default: false, description: 'The holder must then choose another one' }),
  ),
  reason: Type.Optional(
    Type.String({ default: 'temporary', description: 'temporary or admin_reset' }),
  ),
})

export const PasswordWasReset = Type.Object({
  account_id: Type.String(),
  email: Type.String(),
  must_change_password: Type.Boolean(),
  password_change_reason: Nullable(Type.String()),
  password_changed_at: Timestamp,
  sessions_revoked: Type.Integer(),
  cache_flushed: Type.Boolean({ description: 'Dovecot has forgotten the old password' }),
})
