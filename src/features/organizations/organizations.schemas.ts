import { Type } from 'typebox'
import { Body, Nullable, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'

export const FreeForm = (description: string, example: object = {}) =>
  Type.Object({}, { additionalProperties: true, description, examples: [example] })

export const Organization = Type.Object(
  {
    id: Type.String(),
    external_id: Nullable(Type.String()),
    name: Type.String({ examples: ['Acme Mail'] }),
    description: Nullable(Type.String()),
    active: Type.Boolean({
      description: 'false: suspended; keys, sessions and mail stop, nothing is deleted',
    }),
    admin_email: Nullable(Type.String()),
    admin_name: Nullable(Type.String()),
    settings: FreeForm('Free-form'),
    rate_limits: FreeForm('Free-form', { outbound_hourly: 1000 }),
    storage_quotas: FreeForm('`storage_quota_mb` bounds the sum over the domains', {
      storage_quota_mb: 51200,
    }),
    webhook_urls: Type.Array(Type.String()),
    sending_profile: Type.String({ examples: ['transactional'] }),
    quota_override: Type.Boolean(),
    quota_override_at: Nullable(Timestamp),
    quota_override_by: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Organization' },
)

export const OrganizationListItem = Type.Object(
  {
    ...Organization.properties,
    domain_count: Type.Integer(),
    email_account_count: Type.Integer(),
    total_storage_used: Type.Integer({ description: 'Bytes' }),
    storage_quota: Type.Integer({ description: 'Bytes, summed over the domains' }),
  },
  { title: 'OrganizationListItem' },
)

export const OrganizationQuery = Type.Object({
  ...PageQuery,
  ...SortQuery(['name', 'created_at', 'domain_count', 'email_account_count', 'total_storage_used']),
  q: Type.Optional(
    Type.String({
      description: 'Part of name or external id, an id, or a domain or mailbox it owns',
    }),
  ),
  active: Type.Optional(Type.Boolean()),
  over_quota: Type.Optional(Type.Boolean({ description: 'Uses more than its domains may hold' })),
})

export const OrganizationParams = Type.Object({ organization_id: Type.String() })
export const ExternalIdParams = Type.Object({ external_id: Type.String() })

const fields = {
  external_id: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  description: Type.Optional(Nullable(Type.String())),
  active: Type.Optional(Type.Boolean({ description: 'Platform callers only' })),
  admin_email: Type.Optional(Nullable(Type.String())),
  admin_name: Type.Optional(Nullable(Type.String())),
  settings: Type.Optional(FreeForm('Free-form')),
  rate_limits: Type.Optional(FreeForm('Operators only')),
  storage_quotas: Type.Optional(FreeForm('Operators only', { storage_quota_mb: 51200 })),
  webhook_urls: Type.Optional(Type.Array(Type.String())),
  webhook_secret: Type.Optional(Nullable(Type.String({ description: 'Write-only' }))),
  sending_profile: Type.Optional(
    Type.String({
      description: 'transactional, marketing or both; platform callers only',
      examples: ['transactional'],
    }),
  ),
}

export const NewOrganization = Body({
  id: Type.String({
    description: 'Letters, digits, hyphens, underscores; at most 26',
    examples: ['acme'],
  }),
  name: Type.String({ maxLength: 255, examples: ['Acme Mail'] }),
  ...fields,
})

export const OrganizationChange = Body({
  name: Type.Optional(Type.String({ maxLength: 255, examples: ['Acme Mail'] })),
  ...fields,
})

export const StorageStatistics = Type.Object({
  total_storage_used: Type.Integer(),
  total_quota: Type.Integer(),
  usage_percentage: Type.Number(),
})

export const OrganizationQuotas = Type.Object({
  organization_id: Type.String(),
  organization_quotas: FreeForm('The storage_quotas of the organization'),
  total_domains: Type.Integer(),
  total_email_accounts: Type.Integer(),
  quota_override: Type.Boolean(),
  quota_override_at: Nullable(Timestamp),
  quota_override_by: Nullable(Type.String()),
  storage_summary: Type.Object({
    total_storage_used: Type.Integer(),
    total_quota: Type.Integer(),
    domains: Type.Array(
      Type.Object({
        domain: Type.String(),
        storage_used: Type.Integer(),
        quota: Type.Integer(),
        usage_percentage: Type.Number(),
        email_accounts: Type.Integer(),
        max_users: Type.Integer(),
      }),
    ),
  }),
})

export const QuotaChange = Body({
  storage_quotas: Type.Optional(FreeForm('Replaces the whole object', { storage_quota_mb: 51200 })),
  rate_limits: Type.Optional(FreeForm('Replaces the whole object')),
})

export const QuotaForce = Type.Object({
  force: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Operators only: write without an override, and end an existing one',
    }),
  ),
})

export const ChangedQuotas = Type.Object({
  organization_id: Type.String(),
  storage_quotas: FreeForm('As stored'),
  rate_limits: FreeForm('As stored'),
  quota_override: Type.Boolean(),
  quota_override_at: Nullable(Timestamp),
  quota_override_by: Nullable(Type.String()),
})

export const OverrideCleared = Type.Object({
  organization_id: Type.String(),
  quota_override: Type.Literal(false),
})
