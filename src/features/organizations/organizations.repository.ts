import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, searchPageAndTotal, withIds } from '../../database/paging.ts'
import { prepared } from '../../database/prepared.ts'
import { organizationOf } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'

// All columns but webhook_secret, which is write-only.
const columns = [
  'organizations.id',
  'organizations.external_id',
  'organizations.name',
  'organizations.description',
  'organizations.active',
  'organizations.admin_email',
  'organizations.admin_name',
  'organizations.settings',
  'organizations.rate_limits',
  'organizations.storage_quotas',
  sql<string[]>`organizations.webhook_urls`.as('webhook_urls'),
  'organizations.sending_profile',
  'organizations.quota_override',
  'organizations.quota_override_at',
  'organizations.quota_override_by',
  'organizations.created_at',
  'organizations.updated_at',
] as const

const counters = [
  'organizations.domain_count',
  'organizations.email_account_count',
  'organizations.total_storage_used',
  'organizations.storage_quota',
] as const

/** An organization is in its own scope. */
const own = (scope: Scope) =>
  scope === 'platform' ? sql<SqlBool>`true` : sql<SqlBool>`organizations.id = ${scope.organization}`

export interface OrganizationFilter {
  q?: string
  active?: boolean
  over_quota?: boolean
}

/** Collects ids, so that each condition uses its own index. */
const matchesText = (q: string) => sql<SqlBool>`organizations.id in (
  select id from organizations where ${contains(['name', 'external_id'], q)}
  union all select id from organizations where id = ${q}
  union all select organization_id from domains where ${contains('domain', q)}
  union all select organization_id from email_accounts where email = ${q.toLowerCase()})`

const matching = (db: Db, { q, active, over_quota }: OrganizationFilter) => {
  let query = db.selectFrom('organizations')
  if (active !== undefined) query = query.where('organizations.active', '=', active)
  if (over_quota !== undefined) {
    query = query.where(sql<SqlBool>`(total_storage_used > storage_quota) = ${over_quota}`)
  }
  if (q !== undefined && q !== '') query = query.where(matchesText(q))
  return query
}

export async function list(
  db: Db,
  filter: OrganizationFilter,
  sort: Sort<'name' | 'created_at' | 'domain_count' | 'email_account_count' | 'total_storage_used'>,
  page: Page,
) {
  const query = matching(db, filter)
  const { ids, total } = filter.q
    ? await searchPageAndTotal(db, query, 'organizations', sort, page)
    : await pageAndTotal(db, query, 'organizations', sort, page)
  return { items: inOrder(ids, await listed(db, { ids })), total }
}

const listed = prepared((db, { ids }: { ids: string[] }) =>
  db
    .selectFrom('organizations')
    .select([...columns, ...counters])
    .where(withIds('organizations', ids)),
)

const byId = prepared((db, { id, organization }: { id: string; organization: string | null }) =>
  db
    .selectFrom('organizations')
    .select([...columns, ...counters])
    .where('organizations.id', '=', id)
    .where(sql<SqlBool>`(${organization}::text is null or organizations.id = ${organization})`),
)
export const find = async (db: Db, scope: Scope, id: string) =>
  (await byId(db, { id, organization: organizationOf(scope) }))[0]

export const findByExternalId = (db: Db, scope: Scope, externalId: string) =>
  db
    .selectFrom('organizations')
    .select('organizations.id')
    .where('organizations.external_id', '=', externalId)
    .where(own(scope))
    .executeTakeFirst()

/** Locks the row until the transaction ends, so that quota checks stay valid. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('organizations')
    .select([...columns, ...counters])
    .where('organizations.id', '=', id)
    .where(own(scope))
    .forUpdate()
    .executeTakeFirst()

export interface OrganizationFields {
  external_id?: string | null
  name?: string
  description?: string | null
  active?: boolean
  admin_email?: string | null
  admin_name?: string | null
  settings?: object
  rate_limits?: object
  storage_quotas?: object
  webhook_urls?: string[]
  webhook_secret?: Buffer | null
  sending_profile?: 'transactional' | 'marketing' | 'both'
  quota_override?: boolean
  quota_override_at?: string | null
  quota_override_by?: string | null
}

export const insert = (tx: Tx, fields: OrganizationFields & { id: string; name: string }) =>
  tx.insertInto('organizations').values(fields).returning(columns).executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: OrganizationFields, now: Date) =>
  tx
    .updateTable('organizations')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('organizations.id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/** A legal hold on any address keeps the organization, with its mail log and quarantine. */
export async function isHeld(tx: Tx, id: string, now: Date): Promise<boolean> {
  const hold = await tx
    .selectFrom('legal_holds')
    .select('id')
    .where('organization_id', '=', id)
    .where('active', '=', true)
    .where((eb) => eb.or([eb('end_date', 'is', null), eb('end_date', '>', now.toISOString())]))
    .limit(1)
    .executeTakeFirst()
  return hold !== undefined
}

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('organizations').where('id', '=', id).execute()

export const domainUse = (db: Db, id: string) =>
  db
    .selectFrom('domains')
    .select(['domain', 'total_storage_used', 'max_quota', 'total_email_accounts', 'max_users'])
    .where('organization_id', '=', id)
    .orderBy('domain')
    .execute()

export const hasSubOrganizations = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('organizations')
    .select('id')
    .where('parent_organization_id', '=', id)
    .limit(1)
    .executeTakeFirst()) !== undefined
