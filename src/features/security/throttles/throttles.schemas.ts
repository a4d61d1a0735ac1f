import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { SERVICES } from '../failed-auth/failed-auth.schemas.ts'
import { exact, reason } from '../security.schemas.ts'

const KINDS = ['ip', 'account', 'account_from_ip'] as const
const ORIGINS = ['failures', 'operator'] as const

export const ThrottleQuery = Type.Object({
  ...PageQuery,
  kind: Type.Optional(OneOf(KINDS)),
  service: Type.Optional(OneOf(SERVICES)),
  client_ip: exact('Exact, in any spelling; IPv6 means its /64'),
  username: exact('Exact, in any case'),
})

export const ThrottleEntry = Type.Object(
  {
    id: Type.String(),
    kind: OneOf(KINDS, {
      description:
        'Logins that are refused: all of an IP address, of an account, or of both together',
    }),
    client_ip: Nullable(Type.String({ description: 'IPv4 address or IPv6 /64' })),
    username: Nullable(Type.String()),
    service: Type.String({ examples: ['operator'] }),
    origin: OneOf(ORIGINS, { description: 'Failed logins, or a block by an operator' }),
    attempt_count: Type.Integer({ description: 'Failed logins of this run' }),
    blocked_until: Timestamp,
    last_attempt_at: Timestamp,
  },
  { title: 'ThrottleEntry' },
)

export const LiftBody = Body({
  username: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 320,
      description: 'Login or e-mail address; either this or client_ip',
      examples: ['ada@acme.example'],
    }),
  ),
  client_ip: Type.Optional(
    Type.String({ minLength: 1, maxLength: 64, description: 'IPv4 or IPv6; IPv6 means its /64' }),
  ),
  reason,
})

export const Lifted = Type.Object({
  client_ip: Nullable(Type.String()),
  username: Nullable(Type.String()),
  lifted: Type.Integer({ description: 'Throttles and blocks that were in force' }),
})
