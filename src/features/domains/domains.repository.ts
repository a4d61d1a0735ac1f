import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import {
  inOrder,
  nameOf,
  pageAndTotal,
  searchPageAndTotal,
  withIds,
} from '../../database/paging.ts'
import { prepared } from '../../database/prepared.ts'
import { inScope, inScopeOf, organizationOf } from '../../database/scope.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'

export const columns = [
  'domains.id',
  'domains.organization_id',
  'domains.domain',
  'domains.external_id',
  'domains.description',
  'domains.active',
  'domains.verified_at',
  'domains.ownership_verified_at',
  'domains.max_quota',
  'domains.max_users',
  'domains.dkim_enabled',
  'domains.dkim_selector',
  'domains.tracking_enabled',
  'domains.rate_limits',
  'domains.storage_quotas',
  'domains.total_storage_used',
  'domains.total_attachment_storage',
  'domains.total_email_storage',
  'domains.total_email_accounts',
  'domains.total_emails',
  'domains.total_attachments',
  'domains.rate_usage_data',
  'domains.last_storage_calculation',
  'domains.storage_calculation_time_ms',
  'domains.quota_override',
  'domains.quota_override_at',
  'domains.quota_override_by',
  'domains.mta_sts_mode',
  'domains.mta_sts_problem',
  'domains.mta_sts_checked_at',
  'domains.policy_bl_only',
  'domains.policy_reject_spam',
  'domains.policy_greylist',
  'domains.policy_rbl',
  'domains.created_at',
  'domains.updated_at',
] as const

export type DomainRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface DomainFilter {
  q?: string
  active?: boolean
}

const matching = (db: Db, scope: Scope, { q, active }: DomainFilter) => {
  let query = db.selectFrom('domains').where(inScope('domains', scope))
  // A literal: the index of inactive domains is partial.
  if (active !== undefined) query = query.where('domains.active', '=', sql.lit(active))
  if (q !== undefined && q !== '') query = query.where(contains('domains.domain', q))
  return query
}

export async function list(
  db: Db,
  scope: Scope,
  filter: DomainFilter,
  sort: Sort<'domain' | 'created_at' | 'total_storage_used'>,
  page: Page,
) {
  const query = matching(db, scope, filter)
  const { ids, total } = filter.q
    ? await searchPageAndTotal(db, query, 'domains', sort, page)
    : await pageAndTotal(db, query, 'domains', sort, page, count(db, scope, filter))
  return { items: inOrder(ids, await listed(db, { ids })), total }
}

const listed = prepared((db, { ids }: { ids: string[] }) =>
  db
    .selectFrom('domains')
    .select([
      ...columns,
      'domains.total_email_accounts as email_account_count',
      nameOf('organizations', 'domains.organization_id').as('organization_name'),
    ])
    .where(withIds('domains', ids)),
)

/** Reads the counters of organizations, which triggers maintain. */
const count = (db: Db, scope: Scope, { active }: DomainFilter) =>
  db
    .selectFrom('organizations')
    .select(sql<number>`coalesce(sum(${counterFor(active)}), 0)::int`.as('total'))
    .$if(scope !== 'platform', (query) =>
      query.where('id', '=', (scope as { organization: string }).organization),
    )

function counterFor(active: boolean | undefined) {
  if (active === undefined) return sql.ref('domain_count')
  return active ? sql`domain_count - inactive_domain_count` : sql.ref('inactive_domain_count')
}

const byId = prepared((db, { id, organization }: { id: string; organization: string | null }) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domains.id', '=', id)
    .where(inScopeOf('domains', organization)),
)
export const find = async (db: Db, scope: Scope, id: string) =>
  (await byId(db, { id, organization: organizationOf(scope) }))[0]

const byName = prepared(
  (db, { domain, organization }: { domain: string; organization: string | null }) =>
    db
      .selectFrom('domains')
      .select(columns)
      .where('domains.domain', '=', domain)
      .where(inScopeOf('domains', organization))
      // Only the platform sees several claims on one name.
      .orderBy('domains.id'),
)
export const findByName = async (db: Db, scope: Scope, domain: string) =>
  (await byName(db, { domain, organization: organizationOf(scope) }))[0]

const ofOrganization = prepared((db, { organizationId }: { organizationId: string }) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domains.organization_id', '=', organizationId)
    .orderBy('domains.domain'),
)
export const listOfOrganization = (db: Db, organizationId: string) =>
  ofOrganization(db, { organizationId })

const locked = prepared((db, { id, organization }: { id: string; organization: string | null }) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domains.id', '=', id)
    .where(inScopeOf('domains', organization))
    .forUpdate(),
)
/** Locks the row. To avoid deadlocks, lock the domain before its organization. */
export const lock = async (tx: Tx, scope: Scope, id: string) =>
  (await locked(tx, { id, organization: organizationOf(scope) }))[0]

/** Prevents the deletion of the domain until the transaction ends; other updates may proceed. */
export const holdByName = (tx: Tx, scope: Scope, domain: string) =>
  tx
    .selectFrom('domains')
    .select(columns)
    .where('domains.domain', '=', domain)
    .where(inScope('domains', scope))
    .orderBy('domains.id')
    .forKeyShare()
    .executeTakeFirst()

export interface DomainFields {
  external_id?: string | null
  description?: string | null
  active?: boolean
  verified_at?: string | null
  ownership_verified_at?: string
  max_quota?: number
  max_users?: number
  dkim_enabled?: boolean
  dkim_selector?: string
  tracking_enabled?: boolean
  rate_limits?: object
  storage_quotas?: object
  quota_override?: boolean
  quota_override_at?: string | null
  quota_override_by?: string | null
  policy_bl_only?: number
  policy_reject_spam?: number
  policy_greylist?: number
  policy_rbl?: number
}

/** Domains that the plan of the organization still allows; undefined without a limit. */
export async function countFree(tx: Tx, organizationId: string): Promise<number | undefined> {
  const row = await tx
    .selectFrom('organizations')
    .select(['max_domains', 'domain_count'])
    .where('id', '=', organizationId)
    .executeTakeFirst()
  return row && row.max_domains !== null ? row.max_domains - row.domain_count : undefined
}

export const insert = (
  tx: Tx,
  fields: DomainFields & { id: string; organization_id: string; domain: string },
) => tx.insertInto('domains').values(fields).returning(columns).executeTakeFirstOrThrow()

export const update = (tx: Tx, id: string, fields: DomainFields, now: Date) =>
  tx
    .updateTable('domains')
    .set({ ...fields, updated_at: now.toISOString() })
    .where('domains.id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('domains').where('id', '=', id).execute()

const storageAllotted = prepared((db, { id }: { id: string }) =>
  db
    .selectFrom('domains')
    // Capped: the quotas of an unlimited domain may add up to more than a safe integer.
    .select(
      sql<number>`least(allotted_storage, ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`.as('sum'),
    )
    .where('id', '=', id),
)
/** The sum of the quotas of the domain's mailboxes, in bytes. */
export const allotted = async (tx: Tx, id: string): Promise<number> =>
  (await storageAllotted(tx, { id }))[0]?.sum ?? 0

/** Active mailboxes and shared mailboxes to which the domain's quota applies. */
export const addressesWithQuotaOf = async (db: Db, id: string): Promise<string[]> => {
  const rows = await db
    .selectFrom('email_accounts')
    .select('email')
    .where('domain_id', '=', id)
    .where('status', '=', 'active')
    .where('storage_quota', '=', 0)
    .union(
      db
        .selectFrom('shared_mailboxes')
        .select('email')
        .where('domain_id', '=', id)
        .where('status', '=', 'active'),
    )
    .execute()
  return rows.map(({ email }) => email)
}

export const accountUse = (db: Db, id: string) =>
  db
    .selectFrom('email_accounts')
    .select(['id', 'email', 'storage_quota', 'storage_used'])
    .where('domain_id', '=', id)
    .orderBy('email')
    .execute()

export const countAliases = async (db: Db, id: string): Promise<number> => {
  const { count: active } = await db
    .selectFrom('aliases')
    .select(sql<number>`count(*)`.as('count'))
    .where('domain_id', '=', id)
    .where('active', '=', true)
    .executeTakeFirstOrThrow()
  return active
}

export const activeAccounts = (db: Db, id: string) =>
  db
    .selectFrom('email_accounts')
    .select([
      sql<number>`count(*)`.as('count'),
      sql<number>`coalesce(sum(storage_used), 0)::bigint`.as('used'),
    ])
    .where('domain_id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirstOrThrow()

/** Ids of the mailboxes and shared mailboxes of a domain. */
export async function mailboxIdsOf(tx: Tx, domainId: string): Promise<string[]> {
  const of = (table: 'email_accounts' | 'shared_mailboxes') =>
    tx.selectFrom(table).select('id').where('domain_id', '=', domainId)
  const rows = await of('email_accounts').unionAll(of('shared_mailboxes')).execute()
  return rows.map(({ id }) => id)
}
