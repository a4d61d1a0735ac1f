import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageOfKnown, withIds } from '../../database/pages.ts'
import { containsInLowerCase } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { ulid } from '../../lib/ulid.ts'

export const SUPPRESSION_TYPES = ['BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL'] as const
export type SuppressionType = (typeof SUPPRESSION_TYPES)[number]

const columns = [
  'id',
  'email',
  'organization_id',
  'suppression_type',
  'reason',
  'source',
  'bounce_type',
  'bounce_count',
  'active',
  'expires_at',
  'created_at',
  'updated_at',
] as const

export interface SuppressionFilter {
  organization_id?: string
  suppression_type?: SuppressionType
  active?: boolean
  q?: string
  from?: Date
  to?: Date
}

export async function list(
  db: Db,
  filter: SuppressionFilter,
  sort: Sort<'created_at' | 'email'>,
  { perPage, offset }: Page,
) {
  const { organization_id, suppression_type, active, q, from, to } = filter
  let query = db.selectFrom('suppressions')
  if (organization_id !== undefined) query = query.where('organization_id', '=', organization_id)
  if (suppression_type !== undefined) query = query.where('suppression_type', '=', suppression_type)
  if (active !== undefined) query = query.where('active', '=', active)
  if (q) query = query.where(containsInLowerCase('suppressions.email', q))
  if (from) query = query.where('created_at', '>=', from.toISOString())
  if (to) query = query.where('created_at', '<=', to.toISOString())
  const { ids, total } = await pageOfKnown(
    db,
    query,
    'suppressions',
    sort,
    { perPage, offset },
    { count: query.select(sql<number>`count(*)`.as('total')), isAddedUp: false },
  )
  const rows = await db
    .selectFrom('suppressions')
    .select(columns)
    .where(withIds('suppressions', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

const KEPT_DAYS = 30
// An address may work again, and people change their minds about spam; the others are decisions.
const EXPIRES: readonly SuppressionType[] = ['BOUNCE', 'COMPLAINT']

export interface NewSuppression {
  email: string
  organization_id: string
  reason: string | null
  source: string | null
  bounce_type?: 'HARD' | 'SOFT' | null
}

/** Suppresses addresses, or does so again: then the term begins anew and the bounces are counted. */
export async function suppress(
  tx: Tx,
  type: SuppressionType,
  suppressions: NewSuppression[],
  now: Date,
): Promise<void> {
  // In one order, so that two at once wait for each other instead of for ever.
  const rows = [...suppressions]
    .map((one) => ({ ...one, id: ulid(), email: one.email.toLowerCase() }))
    .sort((a, b) => (a.email < b.email ? -1 : 1))
  const days = EXPIRES.includes(type) ? KEPT_DAYS : null
  await sql`
    insert into suppressions (id, email, organization_id, suppression_type, reason, source,
      bounce_type, bounce_count, expires_at, created_at, updated_at)
    select min(id), email, organization_id, ${type}, min(reason), min(source), min(bounce_type),
      count(*), ${now.toISOString()}::timestamptz + make_interval(days => ${days}::int),
      ${now.toISOString()}, ${now.toISOString()}
    from json_to_recordset(${rows}::json) as new (id text, email text, organization_id text,
      reason text, source text, bounce_type text)
    where exists (select from organizations where organizations.id = new.organization_id)
    group by email, organization_id
    order by email, organization_id
    on conflict (email, organization_id, suppression_type) do update set
      reason = excluded.reason,
      source = excluded.source,
      bounce_type = coalesce(excluded.bounce_type, suppressions.bounce_type),
      bounce_count = suppressions.bounce_count + excluded.bounce_count,
      active = true,
      expires_at = excluded.expires_at,
      updated_at = excluded.updated_at`.execute(tx)
}

export const isSuppressed = async (db: Db, email: string, organizationId: string, now: Date) => {
  const row = await db
    .selectFrom('suppressions')
    .select('id')
    .where('email', '=', email.toLowerCase())
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now.toISOString())]))
    .executeTakeFirst()
  return row !== undefined
}

/** For this reason alone, whatever else speaks against it. */
export const isSuppressedBy = async (
  db: Db,
  type: SuppressionType,
  email: string,
  organizationId: string,
) => {
  const row = await db
    .selectFrom('suppressions')
    .select('id')
    .where('email', '=', email.toLowerCase())
    .where('organization_id', '=', organizationId)
    .where('suppression_type', '=', type)
    .where('active', '=', true)
    .executeTakeFirst()
  return row !== undefined
}

/** Lets an address be sent to again; answers how many rows stood in the way. */
export async function lift(
  tx: Tx,
  email: string,
  organizationId: string,
  now: Date,
  type?: SuppressionType,
): Promise<number> {
  let query = tx
    .updateTable('suppressions')
    .set({ active: false, updated_at: now.toISOString() })
    .where('email', '=', email.toLowerCase())
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
  if (type !== undefined) query = query.where('suppression_type', '=', type)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return Number(numUpdatedRows)
}
