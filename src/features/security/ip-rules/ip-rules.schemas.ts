import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { SortQuery } from '../../../http/sorting.ts'
import { exact, reason } from '../security.schemas.ts'

const RULE_TYPES = ['whitelist', 'blacklist'] as const
const description = Type.String({ maxLength: 255, examples: ['Head office'] })
const address = Type.String({
  description: 'An address, or a network in CIDR notation; host bits are cut off',
  examples: ['203.0.113.0/24'],
})

export const IpRuleQuery = Type.Object({
  ...PageQuery,
  rule_type: Type.Optional(OneOf(RULE_TYPES)),
  active: Type.Optional(Type.Boolean()),
  organization_id: exact(),
  q: exact('Part of address or description'),
  ...SortQuery(['created_at', 'updated_at', 'ip_address', 'rule_type']),
})

export const IpRule = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    organization_name: Type.String({ examples: ['Acme'] }),
    rule_type: OneOf(RULE_TYPES),
    ip_address: address,
    description: Nullable(description),
    active: Type.Boolean(),
    created_by: Nullable(Type.String({ examples: ['root@ops.example'] })),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'IpRule' },
)

export const IpRuleParams = Type.Object({ rule_id: Type.String() })

export const NewIpRule = Body({
  rule_type: OneOf(RULE_TYPES),
  ip_address: address,
  description: Type.Optional(Nullable(description)),
  organization_id: Type.String({
    minLength: 1,
    description: 'A rule of no organization would never be looked at',
  }),
  reason,
})

export const IpRuleChange = Body({
  description: Type.Optional(Nullable(description)),
  active: Type.Optional(Type.Boolean()),
  rule_type: Type.Optional(OneOf(RULE_TYPES)),
  ip_address: Type.Optional(
    Type.String({ description: 'Cannot change; another than the stored one is refused' }),
  ),
  reason,
})

export const DeletedIpRule = Type.Object({
  id: Type.String(),
  organization_id: Type.String(),
  active_whitelist_rules_remaining: Type.Integer({
    description: '0: the organization is open to every address that is on no blacklist',
  }),
})
