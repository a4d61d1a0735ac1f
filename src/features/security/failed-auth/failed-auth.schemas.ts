import { Type } from 'typebox'
import { MAIL_ACCOUNT, MAIL_SERVICES } from '../../../access/login-services.ts'
import { policies, type ThrottledService } from '../../../access/throttle.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { SortQuery } from '../../../http/sorting.ts'
import { exact, reason } from '../security.schemas.ts'

export const SERVICES = [
  ...MAIL_SERVICES,
  MAIL_ACCOUNT,
  ...(Object.keys(policies) as ThrottledService[]),
] as const

export const FailedAuthQuery = Type.Object({
  ...PageQuery,
  client_ip: exact('Exact, in any spelling'),
  username: exact('Exact, in any case'),
  service: Type.Optional(OneOf(SERVICES)),
  blocked: Type.Optional(Type.Boolean({ description: 'A block is in force now' })),
  date_from: exact('ISO date or datetime of the last attempt, inclusive'),
  date_to: exact('ISO date or datetime, inclusive; a date means the end of that day'),
  q: exact('Part of IP address or username'),
  ...SortQuery(['last_attempt_at', 'attempt_count', 'first_attempt_at']),
})

export const FailedAuth = Type.Object(
  {
    id: Type.String(),
    client_ip: Type.String({
      description: 'IPv4 address or IPv6 /64; empty when logins are counted by account alone',
    }),
    username: Nullable(
      Type.String({ description: 'Null when logins are counted by IP address alone' }),
    ),
    service: Type.String({ examples: ['imap'] }),
    failure_reason: Nullable(Type.String({ examples: ['invalid_credentials'] })),
    attempt_count: Type.Integer(),
    blocked_until: Nullable(Timestamp),
    blocked: Type.Boolean(),
    first_attempt_at: Timestamp,
    last_attempt_at: Timestamp,
  },
  { title: 'FailedAuth' },
)

export const MAX_HOURS = 168
export const SummaryQuery = Type.Object({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 24,
      description: `Larger values are reduced to ${MAX_HOURS}`,
    }),
  ),
})

const Count = Type.Integer({ examples: [12] })

export const FailedAuthSummary = Type.Object({
  window_hours: Count,
  total_attempts: Count,
  distinct_ips: Count,
  distinct_accounts: Count,
  top_ips: Type.Array(
    Type.Object({
      client_ip: Type.String({ examples: ['203.0.113.9'] }),
      attempt_count: Count,
      distinct_accounts: Count,
      services: Type.Array(Type.String({ examples: ['imap'] })),
      blocked: Type.Boolean(),
      last_attempt_at: Timestamp,
    }),
  ),
  top_accounts: Type.Array(
    Type.Object({
      username: Type.String({ examples: ['admin@acme.example'] }),
      attempt_count: Count,
      distinct_ips: Count,
      last_attempt_at: Timestamp,
    }),
  ),
  by_service: Type.Array(
    Type.Object({ service: Type.String({ examples: ['imap'] }), attempt_count: Count }),
  ),
  series: Type.Array(Type.Object({ hour: Timestamp, count: Count }), {
    description: 'One entry per hour; the first also counts the partial hour before it',
  }),
})

export const IpParams = Type.Object({
  client_ip: Type.String({ description: 'IPv4 or IPv6, in any spelling; IPv6 means its /64' }),
})

export const NewBlock = Body({
  minutes: Type.Integer({ minimum: 1, maximum: 43_200, examples: [60] }),
  reason,
})

export const Block = Type.Object({
  client_ip: Type.String({ description: 'IPv4 address or IPv6 /64', examples: ['203.0.113.9'] }),
  blocked_until: Timestamp,
  rows_affected: Type.Integer(),
  warning: Type.Optional(
    Type.String({ description: 'Set when the block covers the IP address of this request' }),
  ),
})

export const LiftedBlock = Type.Object({
  client_ip: Type.String({ examples: ['203.0.113.9'] }),
  rows_affected: Type.Integer(),
})
