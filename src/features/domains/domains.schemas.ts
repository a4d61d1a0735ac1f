import { type TSchema, Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'
import { FreeForm, Organization } from '../organizations/organizations.schemas.ts'
import { OUTCOMES } from './dns-history/record-check.ts'

export const Domain = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    domain: Type.String({
      description: 'As DNS writes it, with A-labels',
      examples: ['acme.example'],
    }),
    domain_unicode: Type.String({ description: 'As people write it', examples: ['acme.example'] }),
    external_id: Nullable(Type.String()),
    description: Nullable(Type.String()),
    active: Type.Boolean(),
    verified_at: Nullable(Timestamp),
    ownership_verified_at: Nullable(
      Type.String({
        format: 'date-time',
        description:
          'Time when its ownership was proven; null = a pending claim, which is not hosted',
      }),
    ),
    max_quota: Type.Integer({
      description: 'Bytes; bounds the sum over the mailboxes; 0 = no bound',
    }),
    max_users: Type.Integer(),
    dkim_enabled: Type.Boolean(),
    dkim_selector: Type.String(),
    tracking_enabled: Type.Boolean({
      description: 'Mail of its SMTP credentials may be tracked, where the host tracks',
    }),
    rate_limits: FreeForm('Limits of the rate limiter'),
    storage_quotas: FreeForm('Free-form'),
    total_storage_used: Type.Integer({ description: 'Bytes' }),
    total_attachment_storage: Type.Integer(),
    total_email_storage: Type.Integer(),
    total_email_accounts: Type.Integer(),
    total_emails: Type.Integer(),
    total_attachments: Type.Integer(),
    rate_usage_data: Nullable(
      FreeForm('Counts of the rate limiter by direction, at most a minute old'),
    ),
    last_storage_calculation: Nullable(Timestamp),
    storage_calculation_time_ms: Nullable(Type.Integer()),
    quota_override: Type.Boolean(),
    quota_override_at: Nullable(Timestamp),
    quota_override_by: Nullable(Type.String()),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'Domain' },
)

export const DomainListItem = Type.Object(
  {
    ...Domain.properties,
    email_account_count: Type.Integer(),
    organization_name: Type.String(),
  },
  { title: 'DomainListItem' },
)

export const DnsRecord = Type.Object(
  {
    type: Type.String({ examples: ['MX'] }),
    name: Type.String({ examples: ['acme.example'] }),
    value: Type.String({ description: 'Exactly what to publish', examples: ['mail.localhost.'] }),
    priority: Nullable(Type.Integer({ examples: [10] })),
    ttl: Type.Integer({ description: 'Seconds', examples: [3600] }),
    required: Type.Boolean({
      description: 'Mail suffers without it; the others help mail programs and other hosts',
    }),
    description: Type.String(),
  },
  { title: 'DnsRecord' },
)

export const ComparedRecord = Type.Object(
  {
    ...DnsRecord.properties,
    status: Type.Optional(
      OneOf(OUTCOMES, { description: 'The state in DNS; unknown when it did not answer' }),
    ),
    found: Type.Optional(
      Type.Array(Type.String(), { description: 'The records of this kind that DNS has' }),
    ),
  },
  { title: 'ComparedDnsRecord' },
)

const dkim = {
  dkim_record: Nullable(Type.String({ examples: ['v=DKIM1; k=rsa; p=MIIB…'] })),
  dkim_selector: Type.String(),
  dkim_dns_name: Type.String({ examples: ['default._domainkey.acme.example'] }),
  dns_records: Type.Array(DnsRecord),
}

export const CreatedDomain = Type.Object(
  { ...Domain.properties, ...dkim },
  { title: 'CreatedDomain' },
)

export const DomainDetail = (emailAccount: TSchema) =>
  Type.Object(
    {
      ...Domain.properties,
      ...dkim,
      organization: Nullable(Organization),
      email_accounts: Type.Array(emailAccount, {
        description:
          'The first 50 by address; the list of mailboxes, narrowed to the domain, has all',
      }),
      email_account_count: Type.Integer(),
      usage_statistics: Type.Object({
        account_usage_percentage: Type.Number(),
        storage_usage_percentage: Type.Number(),
        total_account_storage: Type.Integer(),
      }),
    },
    { title: 'DomainDetail' },
  )

export const DomainQuery = Type.Object({
  ...PageQuery,
  ...SortQuery(['domain', 'created_at', 'total_storage_used']),
  q: Type.Optional(Type.String({ description: 'Part of the name' })),
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
  active: Type.Optional(Type.Boolean()),
})

export const DomainParams = Type.Object({ domain_id: Type.String() })
export const DomainNameParams = Type.Object({ domain: Type.String() })

const fields = {
  external_id: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  description: Type.Optional(Nullable(Type.String())),
  active: Type.Optional(Type.Boolean()),
  max_quota: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Bytes', examples: [10737418240] }),
  ),
  max_users: Type.Optional(Type.Integer({ minimum: 0, examples: [1000] })),
  dkim_enabled: Type.Optional(Type.Boolean()),
  dkim_selector: Type.Optional(Type.String({ maxLength: 63, examples: ['default'] })),
  tracking_enabled: Type.Optional(Type.Boolean()),
  rate_limits: Type.Optional(
    FreeForm('Limits of the rate limiter; replaces the whole object', { outbound_hourly: 100 }),
  ),
  storage_quotas: Type.Optional(FreeForm('Free-form')),
}

export const NewDomain = Body({
  domain: Type.String({ examples: ['acme.example'] }),
  organization_id: Type.Optional(
    Type.String({ description: 'Platform callers only; required for them' }),
  ),
  ...fields,
})

export const DomainChange = Body({
  ...fields,
  dkim_selector: Type.Optional(
    Type.String({
      maxLength: 63,
      description: 'The current one only; a selector changes when a new key is activated',
      examples: ['default'],
    }),
  ),
})

export const QuotaChange = Body({
  max_quota: fields.max_quota,
  max_users: fields.max_users,
  rate_limits: fields.rate_limits,
  storage_quotas: fields.storage_quotas,
})

export const DomainQuotas = Type.Object({
  domain_id: Type.String(),
  domain: Type.String(),
  max_quota: Type.Integer(),
  max_users: Type.Integer(),
  storage_used: Type.Integer(),
  usage_percentage: Type.Number(),
  account_usage_percentage: Type.Number(),
  rate_limits: FreeForm('As stored'),
  storage_quotas: FreeForm('As stored'),
  quota_override: Type.Boolean(),
  quota_override_at: Nullable(Timestamp),
  quota_override_by: Nullable(Type.String()),
  email_accounts: Type.Array(
    Type.Object({
      id: Type.String(),
      email: Type.String(),
      storage_quota: Type.Integer(),
      storage_used: Type.Integer(),
      usage_percentage: Type.Number(),
    }),
  ),
})

export const ChangedQuotas = Type.Object({
  domain_id: Type.String(),
  max_quota: Type.Integer(),
  max_users: Type.Integer(),
  rate_limits: FreeForm('As stored'),
  storage_quotas: FreeForm('As stored'),
  quota_override: Type.Boolean(),
})
