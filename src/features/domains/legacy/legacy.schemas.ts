import { Type } from 'typebox'
import { Body, Nullable } from '../../../http/envelope.ts'
import { FreeForm } from '../../organizations/organizations.schemas.ts'
import { Domain } from '../domains.schemas.ts'

export const EditBody = Body({
  items: Type.Array(Type.String(), { description: 'Names or ids', examples: [['acme.example']] }),
  attr: FreeForm('description, mailboxes, maxquota, quota, active; others are ignored', {
    description: 'Main domain',
  }),
})

export const Edited = Type.Array(
  Type.Object({ domain: Type.String(), status: Type.String(), msg: Type.String() }),
)

export const DeleteBody = Type.Array(Type.String(), { examples: [['acme.example']] })

export const Deleted = Type.Array(
  Type.Object({
    domain: Type.String(),
    status: Type.String(),
    msg: Type.String(),
    stats: Type.Optional(
      Type.Object({ mailboxes_deleted: Type.Integer(), aliases_deleted: Type.Integer() }),
    ),
  }),
)

const Flag = Nullable(Type.Integer({ description: '0 or 1; null when never set' }))

export const Policy = Type.Object({
  domain: Type.String(),
  active: Type.Boolean(),
  policy_bl_only: Flag,
  policy_reject_spam: Flag,
  policy_greylist: Flag,
  policy_rbl: Flag,
  rate_limits: FreeForm('As stored'),
})

const Switch = (fallback: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 1, default: fallback }))

export const PolicyBody = Body({
  domain: Type.String({ examples: ['acme.example'] }),
  policy_bl_only: Switch(0),
  policy_reject_spam: Switch(0),
  policy_greylist: Switch(1),
  policy_rbl: Switch(1),
})

export const Stats = Type.Object({
  domain: Type.String(),
  mailbox_count: Type.Integer({ description: 'Active ones' }),
  alias_count: Type.Integer({ description: 'Active ones' }),
  total_quota_used: Type.Integer({ description: 'Bytes in active mailboxes' }),
  domain_details: Domain,
})
