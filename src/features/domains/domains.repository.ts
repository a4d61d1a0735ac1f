import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
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
  'domains.max_quota',
  'domains.max_users',
  'domains.dkim_enabled',
  'domains.dkim_selector',
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

const matching = (db: Db, scope: Scope, { q, active }: DomainFilter) => {
  let query = db.selectFrom('domains').where(inScope('domains', scope))
  if (active !== undefined) query = query.where('domains.active', '=', active)
  if (q !== undefined && q !== '') query = query.where(contains(['domains.domain'], q))
  return query
}

export async function list(
  db: Db,
  scope: Scope,
  filter: DomainFilter,
  sort: Sort<'domain' | 'created_at' | 'total_storage_used'>,
  { perPage, offset }: Page,
) {
  // The page is found on the index alone; whole rows are read for it only.
  const page = matching(db, scope, filter)
    .select('domains.id')
    .orderBy(`domains.${sort.by}`, sort.direction)
    .orderBy('domains.id', sort.direction)
    .limit(perPage)
    .offset(offset)
  const items = await db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select([
      ...columns,
      'domains.total_email_accounts as email_account_count',
      'organizations.name as organization_name',
    ])
    .where('domains.id', 'in', page)
    .orderBy(`domains.${sort.by}`, sort.direction)
    .orderBy('domains.id', sort.direction)
    .execute()
  return { items, total: await count(db, scope, filter) }
}

async function count(db: Db, scope: Scope, filter: DomainFilter): Promise<number> {
  const unfiltered = filter.active === undefined && !filter.q
  const { total } = unfiltered
    ? await db
        .selectFrom('organizations')
        .select(sql<number>`coalesce(sum(domain_count), 0)::int`.as('total'))
        .$if(scope !== 'platform', (query) =>
          query.where('id', '=', (scope as { organization: string }).organization),
        )
        .executeTakeFirstOrThrow()
    : await matching(db, scope, filter)
        .select(sql<number>`count(*)`.as('total'))
        .executeTakeFirstOrThrow()
  return total
}

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domains.id', '=', id)
    .where(inScope('domains', scope))
    .executeTakeFirst()

export const findByName = (db: Db, scope: Scope, domain: string) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domains.domain', '=', domain)
    .where(inScope('domains', scope))
    .executeTakeFirst()

export const listOfOrganization = (db: Db, organizationId: string) =>
  db
    .selectFrom('domains')
    .select(columns)
    .where('domains.organization_id', '=', organizationId)
    .orderBy('domains.domain')
    .execute()

/** Holds the row until the transaction ends; taken before the organization's, never after. */
export const lock = (tx: Tx, scope: Scope, id: string) =>
  tx
    .selectFrom('domains')
    .select(columns)
    .where('domains.id', '=', id)
    .where(inScope('domains', scope))
    .forUpdate()
    .executeTakeFirst()

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

/** What the mailboxes of a domain were given together. */
export const allotted = async (tx: Tx, id: string): Promise<number> => {
  const { sum } = await tx
    .selectFrom('email_accounts')
    // Bounded: the quotas of an unbounded domain may add up to more than a bigint holds.
    .select(
      sql<number>`least(coalesce(sum(storage_quota), 0), ${Number.MAX_SAFE_INTEGER}::bigint)::bigint`.as(
        'sum',
      ),
    )
    .where('domain_id', '=', id)
    .executeTakeFirstOrThrow()
  return sum
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
