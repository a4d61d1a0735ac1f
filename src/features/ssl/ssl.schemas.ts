import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery, Paginated } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'

export const STATUSES = ['active', 'expired', 'revoked', 'pending', 'failed'] as const
const Count = Type.Integer({ examples: [3] })

export const Certificate = Type.Object(
  {
    id: Type.String(),
    domain: Type.String({
      description: 'unknown when it is for no domain',
      examples: ['acme.example'],
    }),
    organization_id: Nullable(Type.String()),
    organization_name: Nullable(Type.String({ examples: ['Acme'] })),
    status: OneOf(STATUSES),
    issuer: Nullable(Type.String({ examples: ['R11'] })),
    algorithm: Nullable(Type.String({ examples: ['ECDSA'] })),
    key_size: Nullable(Type.Integer({ examples: [256] })),
    auto_renew: Nullable(Type.Boolean()),
    error_message: Nullable(
      Type.String({ description: 'Reason that it cannot be read, or could not be renewed' }),
    ),
    valid_from: Nullable(Timestamp),
    valid_until: Nullable(Timestamp),
    days_until_expiry: Nullable(Type.Integer({ description: 'Whole days; negative: since then' })),
    issued_at: Nullable(Timestamp),
    last_renewed: Nullable(Timestamp),
  },
  { title: 'Certificate' },
)

const note = Type.Optional(Type.String({ description: 'Problems that were found' }))

export const CertificateQuery = Type.Object({
  ...PageQuery,
  status: Type.Optional(OneOf(STATUSES)),
  domain: Type.Optional(Type.String({ description: 'Part of it' })),
  expiring_days: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 36_500,
      description: 'Ends within so many days, or has ended',
    }),
  ),
  ...SortQuery(['valid_until', 'domain', 'status', 'issued_at']),
})

export const CertificatePage = Type.Object({
  ...Paginated(Certificate).properties,
  schema_note: note,
})

export const DomainParams = Type.Object({ domain: Type.String() })

const AcmeAccount = Type.Object(
  {
    id: Type.String(),
    email: Type.String({ examples: ['certificates@host.example'] }),
    certs_issued: Type.Integer({ description: 'Orders it was used for, also those that failed' }),
    success_count: Count,
    failure_count: Count,
    success_rate: Nullable(Type.Number({ description: 'Percent', examples: [97.5] })),
    last_used: Nullable(Timestamp),
    registered_at: Nullable(Timestamp),
  },
  { title: 'AcmeAccount' },
)

export const AcmeAccounts = Type.Object({ accounts: Type.Array(AcmeAccount), total: Count })

export const StatusQuery = Type.Object({
  include_accounts: Type.Optional(Type.Boolean({ default: true })),
})

export const SslStatus = Type.Object({
  certificates: Type.Object({
    active: Count,
    expired: Count,
    revoked: Count,
    pending: Count,
    failed: Count,
    total: Count,
    expiring_soon: Type.Integer({ description: 'Active, and for 30 days at most' }),
  }),
  last_issued: Type.Object({
    domain: Nullable(Type.String()),
    issued_at: Nullable(Timestamp),
  }),
  timestamp: Timestamp,
  schema_note: note,
  acme_accounts: Type.Optional(
    Type.Array(AcmeAccount, { description: 'For operators who may list them: admin or above' }),
  ),
  acme_accounts_total: Type.Optional(Count),
})

export const Renewal = Body({
  reason: Type.String({
    minLength: 1,
    maxLength: 2000,
    description: 'Kept in the audit trail',
    examples: ['The key may be known to others'],
  }),
})
