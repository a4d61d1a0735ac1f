import { Type } from 'typebox'
import { RULE_USES } from '../../../access/address-rules.repository.ts'
import { Body, Nullable, OneOf, Timestamp } from '../../../http/envelope.ts'
import { PageQuery } from '../../../http/paging.ts'
import { SortQuery } from '../../../http/sorting.ts'
import { exact, reason } from '../security.schemas.ts'

const RULE_TYPES = ['whitelist', 'blacklist'] as const
const description = Type.String({ maxLength: 255, examples: ['Head office'] })
const network = Type.String({
  description: 'An IP address, or a network in CIDR notation; host bits are cleared',
  examples: ['203.0.113.0/24'],
})

const applies_to = Type.Array(OneOf(RULE_USES), {
  minItems: 1,
  uniqueItems: true,
  description:
    'smtp: sending mail; mailbox: IMAP, POP3, ManageSieve and the web sessions of mailboxes; api: API keys and dashboard sessions',
  examples: [['smtp', 'mailbox', 'api']],
})

export const IpRuleQuery = Type.Object({
  ...PageQuery,
  rule_type: Type.Optional(OneOf(RULE_TYPES)),
  active: Type.Optional(Type.Boolean()),
  organization_id: exact(),
  q: exact('Part of IP address or description'),
  ...SortQuery(['created_at', 'updated_at', 'ip_address', 'rule_type']),
})

export const IpRule = Type.Object(
  {
    id: Type.String(),
    organization_id: Type.String(),
    organization_name: Type.String({ examples: ['Acme'] }),
    rule_type: OneOf(RULE_TYPES),
    ip_address: network,
    applies_to,
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
  ip_address: network,
  applies_to: Type.Optional({ ...applies_to, default: [...RULE_USES] }),
  description: Type.Optional(Nullable(description)),
  organization_id: Type.String({
    minLength: 1,
    description: 'Required: rules apply to one organization',
  }),
  reason,
})

export const IpRuleChange = Body({
  description: Type.Optional(Nullable(description)),
  active: Type.Optional(Type.Boolean()),
  rule_type: Type.Optional(OneOf(RULE_TYPES)),
  applies_to: Type.Optional(applies_to),
  ip_address: Type.Optional(
    Type.String({ description: 'Cannot be changed; must equal the stored value' }),
  ),
  reason,
})

export const DeletedIpRule = Type.Object({
  id: Type.String(),
  organization_id: Type.String(),
  active_whitelist_rules_remaining: Type.Integer({
    description: '0: every IP address that is on no blacklist is allowed',
  }),
})
