import { Type } from 'typebox'
import { Body, Nullable, OneOf, Timestamp } from '../../http/envelope.ts'
import { PageQuery } from '../../http/paging.ts'
import { EMAIL_PATTERN } from '../../lib/email.ts'

const STATUSES = ['active', 'inactive'] as const
const MOST = 2_147_483_647
const TERABYTE = 1024 ** 4

const count = (description: string, more: object = {}) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: MOST, description, ...more }))
const plan = (defaults: { users?: object; domains?: object; storage?: object; name?: object }) => ({
  max_users: count('Mailboxes it may have', defaults.users),
  max_domains: count('Domains it may have', defaults.domains),
  storage_limit: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000 * TERABYTE,
      description: 'Bytes it may give to its domains',
      ...defaults.storage,
    }),
  ),
  plan_name: Type.Optional(Type.String({ minLength: 1, maxLength: 100, ...defaults.name })),
})

export const NewSubOrganization = Body({
  parent_org_id: Type.String({ minLength: 1 }),
  name: Type.String({ minLength: 1, maxLength: 255, pattern: '\\S' }),
  admin_email: Type.Optional(
    Nullable(
      Type.String({ pattern: EMAIL_PATTERN, maxLength: 254, examples: ['jane@acme.example'] }),
    ),
  ),
  admin_name: Type.Optional(Nullable(Type.String({ maxLength: 255 }))),
  ...plan({
    users: { default: 50 },
    domains: { default: 5 },
    storage: { default: 10 * 1024 ** 3 },
    name: { default: 'starter' },
  }),
})

export const PlanChange = Body(plan({}))

export const SubOrganizationQuery = Type.Object({
  ...PageQuery,
  parent_org_id: Type.Optional(Type.String({ description: 'Exact' })),
  status: Type.Optional(OneOf(STATUSES)),
})

export const BillingQuery = Type.Object({
  parent_org_id: Type.Optional(Type.String({ description: 'Absent: all resellers' })),
})

export const SubOrganizationParams = Type.Object({ org_id: Type.String() })

export const SubOrganization = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    parent_organization_id: Type.String(),
    admin_email: Nullable(Type.String()),
    admin_name: Nullable(Type.String()),
    status: OneOf(STATUSES),
    plan: Type.Object({
      max_users: Nullable(Type.Integer()),
      max_domains: Nullable(Type.Integer()),
      storage_limit: Nullable(Type.Integer({ description: 'Bytes; null means no limit' })),
      plan_name: Nullable(Type.String({ examples: ['starter'] })),
    }),
    domain_count: Type.Integer(),
    user_count: Type.Integer(),
    storage_used: Type.Integer({ description: 'Bytes' }),
    created_at: Nullable(Timestamp),
    updated_at: Nullable(Timestamp),
  },
  { title: 'SubOrganization' },
)

export const SubOrganizationDetail = Type.Object({
  ...SubOrganization.properties,
  domains: Type.Array(
    Type.Object({
      id: Type.String(),
      domain: Type.String(),
      active: Type.Boolean(),
      user_count: Type.Integer(),
      storage_used: Type.Integer(),
    }),
  ),
})

export const BillingSummary = Type.Object({
  parent_org_id: Nullable(Type.String()),
  total_sub_organizations: Type.Integer(),
  total_active_sub_organizations: Type.Integer(),
  total_users: Type.Integer(),
  total_domains: Type.Integer(),
  total_storage_used: Type.Integer(),
  total_storage_allocated: Type.Integer(),
  total_mailboxes: Type.Integer(),
  total_storage_bytes: Type.Integer(),
  per_org_breakdown: Type.Array(
    Type.Object({
      org_id: Type.String(),
      name: Type.String(),
      status: OneOf(STATUSES),
      plan_name: Nullable(Type.String()),
      users: Type.Integer(),
      domains: Type.Integer(),
      storage_used: Type.Integer(),
      storage_limit: Nullable(Type.Integer()),
    }),
  ),
  by_plan: Type.Array(Type.Object({ plan_name: Nullable(Type.String()), count: Type.Integer() })),
})
