import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, nameOf, pageOfFound, pageOfKnown, withIds } from '../../database/pages.ts'
import { prepared } from '../../database/prepared.ts'
import { inScope, inScopeOf, organizationOf } from '../../database/scope.ts'
import { containsInLowerCase, containsWhileWalking } from '../../database/search.ts'
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

const matching = (
  db: Db,
  scope: Scope,
  { q, active }: DomainFilter,
  contains = containsInLowerCase,
) => {
  let query = db.selectFrom('domains').where(inScope('domains', scope))
  // Written out: a plan for either could not use the index of those that are not active.
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
  const walked = matching(db, scope, filter, containsWhileWalking)
  const found = () => matching(db, scope, filter)
  const everything = () => count(db, scope, filter)
  const { ids, total } = filter.q
    ? await pageOfFound(db, { walked, found, everything }, 'domains', sort, page)
    : await pageOfKnown(db, walked, 'domains', sort, page, {
        count: everything(),
        isAddedUp: scope === 'platform',
      })
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

/** Kept by triggers, whatever the list is narrowed to. */
const count = (db: Db, scope: Scope, { active }: DomainFilter) =>
  db
    .selectFrom('organizations')
    .select(sql<number>`coalesce(sum(${knownCount(active)}), 0)::int`.as('total'))
    .$if(scope !== 'platform', (query) =>
      query.where('id', '=', (scope as { organization: string }).organization),
    )

function knownCount(active: boolean | undefined) {
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
      .where(inScopeOf('domains', organization)),
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
/** Holds the row until the transaction ends; taken before the organization's, never after. */
export const lock = async (tx: Tx, scope: Scope, id: string) =>
  (await locked(tx, { id, organization: organizationOf(scope) }))[0]

/** Keeps the domain from being deleted until the transaction ends, and hinders nothing else. */
export const holdByName = (tx: Tx, scope: Scope, domain: string) =>
  tx
    .selectFrom('domains')
    .select(columns)
    .where('domains.domain', '=', domain)
    .where(inScope('domains', scope))
    .forKeyShare()
    .executeTakeFirst()

export interface DomainFields {
  external_id?: string | null
  description?: string | null
  active?: boolean
  verified_at?: string | null
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
    // Bounded: the quotas of an unbounded domain may add up to more than a bigint holds.
    .select(
      sql<number>`least(allotted_storage, ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`.as('sum'),
    )
    .where('id', '=', id),
)
/** What the mailboxes of a domain were given together. */
export const allotted = async (tx: Tx, id: string): Promise<number> =>
  (await storageAllotted(tx, { id }))[0]?.sum ?? 0

/** Everything that receives mail and has no quota but the domain's. */
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
