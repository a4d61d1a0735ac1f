import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { Page } from '../../http/paging.ts'

const storageLimit = sql<number | null>`storage_limit_of(storage_quotas)`

const columns = [
  'id',
  'name',
  sql<string>`parent_organization_id`.as('parent_organization_id'),
  'admin_email',
  'admin_name',
  'active',
  'max_users',
  'max_domains',
  storageLimit.as('storage_limit'),
  'plan_name',
  'domain_count',
  'email_account_count',
  'total_storage_used',
  'storage_quota',
  sql<Record<string, unknown>>`storage_quotas`.as('storage_quotas'),
  'created_at',
  'updated_at',
] as const

export type SubOrganizationRow = NonNullable<Awaited<ReturnType<typeof find>>>

const subOrganizations = (db: Db) =>
  db.selectFrom('organizations').where('parent_organization_id', 'is not', null)

export async function list(
  db: Db,
  { parent, active }: { parent?: string; active?: boolean },
  page: Page,
) {
  let query = subOrganizations(db)
  if (parent !== undefined) query = query.where('parent_organization_id', '=', parent)
  if (active !== undefined) query = query.where('active', '=', active)
  const items = await query
    .select(columns)
    .orderBy('name')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, id: string) =>
  subOrganizations(db).select(columns).where('id', '=', id).executeTakeFirst()

/** Lock order: the parent's row first, then this one. */
export const lock = (tx: Tx, id: string) =>
  subOrganizations(tx).select(columns).where('id', '=', id).forUpdate().executeTakeFirst()

/** Locks the row, with its limits and the sum of what it has allotted. */
export const lockParent = (tx: Tx, id: string) =>
  tx
    .selectFrom('organizations')
    .select([
      'id',
      'active',
      'parent_organization_id',
      'storage_quota',
      storageLimit.as('storage_limit'),
    ])
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

export const domainsOf = (db: Db, id: string) =>
  db
    .selectFrom('domains')
    .select([
      'id',
      'domain',
      'active',
      'total_email_accounts as user_count',
      'total_storage_used as storage_used',
    ])
    .where('organization_id', '=', id)
    .orderBy('domain')
    .execute()

interface NewSubOrganization {
  id: string
  parent_organization_id: string
  name: string
  admin_email: string | null
  admin_name: string | null
  max_users: number
  max_domains: number
  plan_name: string
  storage_quotas: object
  quota_override: boolean
  quota_override_at: string
  quota_override_by: string | null
  created_at: string
  updated_at: string
}

export const insert = (tx: Tx, row: NewSubOrganization) =>
  tx.insertInto('organizations').values(row).returning(columns).executeTakeFirstOrThrow()

interface Fields {
  active?: boolean
  max_users?: number
  max_domains?: number
  plan_name?: string
  storage_quotas?: object
}

export const update = (tx: Tx, id: string, fields: Fields, now: Date) =>
  tx
    .updateTable('organizations')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export interface Billing {
  total_sub_organizations: number
  total_active_sub_organizations: number
  total_users: number
  total_domains: number
  total_storage_used: number
  total_storage_allocated: number
  per_org_breakdown: {
    org_id: string
    name: string
    status: 'active' | 'inactive'
    plan_name: string | null
    users: number
    domains: number
    storage_used: number
    storage_limit: number | null
  }[]
  by_plan: { plan_name: string | null; count: number }[]
}

/** One statement, so that all figures have the same snapshot. */
export async function billing(db: Db, parent: string | null): Promise<Billing> {
  const { rows } = await sql<Billing>`
    with subs as (
      select id, name, active, plan_name, email_account_count, domain_count, total_storage_used,
        storage_limit_of(storage_quotas) as storage_limit
      from organizations
      where parent_organization_id is not null
        and (${parent}::text is null or parent_organization_id = ${parent}))
    select count(*) as total_sub_organizations,
      count(*) filter (where active) as total_active_sub_organizations,
      coalesce(sum(email_account_count), 0)::bigint as total_users,
      coalesce(sum(domain_count), 0)::bigint as total_domains,
      coalesce(sum(total_storage_used), 0)::bigint as total_storage_used,
      coalesce(sum(storage_limit), 0)::bigint as total_storage_allocated,
      coalesce(jsonb_agg(jsonb_build_object('org_id', id, 'name', name,
        'status', case when active then 'active' else 'inactive' end, 'plan_name', plan_name,
        'users', email_account_count, 'domains', domain_count,
        'storage_used', total_storage_used, 'storage_limit', storage_limit)
        order by name, id), '[]') as per_org_breakdown,
      (select coalesce(jsonb_agg(plans order by plans.plan_name), '[]')
        from (select plan_name, count(*) as count from subs group by plan_name) as plans) as by_plan
    from subs`.execute(db)
  return rows[0] as Billing
}
