import { type Static, Type } from 'typebox'
import { CREDENTIAL_EVENTS } from '../../hosting/credential-trail.repository.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { LimitQuery, SliceQuery } from '../../http/paging.ts'
import { SortQuery } from '../../http/sorting.ts'

const MAX_ALLOWED_IPS = 1000
const MAX_INTEGER = 2_147_483_647

const Id = Type.String({ examples: ['01K9ZQ5T3M8B7C6D5E4F3G2H1J'] })
const Username = Type.String({
  description: 'SASL login, unique',
  examples: ['acme-example-smtp-1f2e3d4c'],
})
const Secret = Type.String({
  description: 'Shown this once',
  examples: ['hC0wP5Tq1kVZ2m8Xb7Jd9RfLs3NyUe4AoGiQwE6t'],
})
const CacheFlushed = Type.Boolean({
  description: 'The mail server has forgotten the cached login; repeat a revoke until it has',
})

export const SmtpCredential = Type.Object(
  {
    id: Id,
    organization_id: Id,
    domain_id: Id,
    username: Username,
    name: Nullable(Type.String({ examples: ['Invoices'] })),
    prefix: Nullable(
      Type.String({
        description: 'First characters of a generated secret',
        examples: ['hC0wP5Tq'],
      }),
    ),
    created_by: Nullable(Type.String({ examples: ['user:admin@acme.example'] })),
    allowed_ips: Type.Array(Type.String({ examples: ['203.0.113.0/24'] })),
    ip_allowlist_enabled: Type.Boolean(),
    expires_at: Nullable(Timestamp),
    hourly_limit: Nullable(
      Type.Integer({ description: "null inherits the organization's", examples: [500] }),
    ),
    daily_limit: Nullable(
      Type.Integer({ description: "null inherits the organization's", examples: [5000] }),
    ),
    tracking_enabled: Type.Boolean({
      description: 'false: its mail is not tracked, whatever the host does',
    }),
    last_used_at: Nullable(Timestamp),
    active: Type.Boolean({ description: 'false: revoked' }),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'SmtpCredential' },
)

export const CreatedCredential = Type.Object(
  { ...SmtpCredential.properties, secret: Type.Optional(Secret) },
  { title: 'CreatedSmtpCredential' },
)
export const UpdatedCredential = Type.Object(
  { ...SmtpCredential.properties, cache_flushed: Type.Optional(CacheFlushed) },
  { title: 'UpdatedSmtpCredential' },
)
export const RotatedCredential = Type.Object(
  { ...SmtpCredential.properties, secret: Secret, cache_flushed: CacheFlushed },
  { title: 'RotatedSmtpCredential' },
)
export const SwitchedCredential = Type.Object(
  { ...SmtpCredential.properties, cache_flushed: CacheFlushed },
  { title: 'SwitchedSmtpCredential' },
)
export const DeletedCredential = Type.Object({ cache_flushed: CacheFlushed })

export const CredentialList = Type.Object({
  credentials: Type.Array(SmtpCredential),
  total: Type.Integer({ description: 'Without limit and offset' }),
})

export const CredentialParams = Type.Object({ credential_id: Type.String() })

export const CredentialQuery = Type.Object({
  domain_id: Type.Optional(Type.String()),
  organization_id: Type.Optional(Type.String({ description: 'Platform callers only' })),
  active: Type.Optional(Type.Boolean({ description: 'false: the revoked ones' })),
  q: Type.Optional(Type.String({ description: 'Part of username or name' })),
  ...SortQuery(['created_at', 'username', 'last_used_at']),
  ...SliceQuery,
})

const settings = {
  name: Type.Optional(Nullable(Type.String({ maxLength: 255, examples: ['Invoices'] }))),
  allowed_ips: Type.Optional(
    // The rules reject entries of the wrong type, with a message that clients compare.
    Type.Array(
      Type.Unknown({ description: 'Address or CIDR network', examples: ['203.0.113.0/24'] }),
      { maxItems: MAX_ALLOWED_IPS },
    ),
  ),
  expires_at: Type.Optional(
    Nullable(
      Type.String({
        description: 'ISO 8601, in UTC unless it says otherwise; empty = never',
        examples: ['2027-01-01T00:00:00Z'],
      }),
    ),
  ),
  hourly_limit: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: MAX_INTEGER, examples: [500] })),
  ),
  tracking_enabled: Type.Optional(
    Type.Boolean({ description: 'Opens and clicks of its mail are tracked' }),
  ),
  daily_limit: Type.Optional(
    Nullable(Type.Integer({ minimum: 1, maximum: MAX_INTEGER, examples: [5000] })),
  ),
}

export const NewCredential = Body({
  domain_id: Id,
  username: Type.Optional(
    Nullable(
      Type.String({
        description:
          "Generated when omitted; an @ only before the credential's own domain; stored in lower case",
        examples: ['invoices@acme.example'],
      }),
    ),
  ),
  password: Type.Optional(
    Nullable(
      Type.String({
        description: 'Generated and shown once as `secret` when omitted; at most 72 bytes',
      }),
    ),
  ),
  created_by: Type.Optional(
    Nullable(Type.String({ maxLength: 255, description: 'Instead of the caller' })),
  ),
  ...settings,
  ip_allowlist_enabled: Type.Optional(Type.Boolean({ default: false })),
})
export type NewCredential = Static<typeof NewCredential>

export const CredentialChange = Body(
  { ...settings, ip_allowlist_enabled: Type.Optional(Type.Boolean()) },
  { description: 'At least one field' },
)
export type CredentialChange = Static<typeof CredentialChange>

export const CredentialEvents = Type.Object({
  events: Type.Array(
    Type.Object(
      {
        id: Id,
        credential_id: Id,
        organization_id: Id,
        username: Username,
        event: OneOf(CREDENTIAL_EVENTS),
        actor: Type.String({ examples: ['user:admin@acme.example'] }),
        source_ip: Type.String({ examples: ['203.0.113.7'] }),
        detail: Nullable(
          Type.String({
            description: 'The changed fields of an update, as JSON text',
            examples: ['{"hourly_limit":500}'],
          }),
        ),
        created_at: Timestamp,
      },
      { title: 'SmtpCredentialEvent' },
    ),
  ),
})

export const EventQuery = Type.Object(LimitQuery)

export const UsageQuery = Type.Object({
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 30 })),
})

export const CredentialUsage = Type.Object(
  {
    window_days: Type.Integer({ examples: [30] }),
    since: Timestamp,
    total: Type.Integer(),
    delivered: Type.Integer(),
    bounced: Type.Integer(),
    deferred: Type.Integer(),
    rejected: Type.Integer(),
    by_status: Type.Record(Type.String(), Type.Integer(), {
      description: 'Only what was seen',
      examples: [{ delivered: 12 }],
    }),
    days: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date', examples: ['2026-11-18'] }),
        delivered: Type.Integer(),
        bounced: Type.Integer(),
        deferred: Type.Integer(),
        rejected: Type.Integer(),
      }),
      { description: 'Every day of the window, in UTC, oldest first; the first one in part' },
    ),
    last_used_at: Nullable(Timestamp),
  },
  { title: 'SmtpCredentialUsage' },
)
