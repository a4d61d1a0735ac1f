import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../database/paging.ts'
import { contains } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { ulid } from '../../lib/ulid.ts'

export const IP_SORTS = [
  'reputation_score',
  'ip_address',
  'total_connections',
  'total_messages',
  'spam_count',
  'bounce_count',
  'auth_failure_count',
  'first_seen',
  'last_seen',
  'updated_at',
] as const

export interface IpFilter {
  q?: string
  is_blocked?: boolean
  max_score?: number
  min_score?: number
}

const isHeldOff = (now: Date) =>
  sql<boolean>`coalesce(block_until > ${now.toISOString()}::timestamptz, false)`
const isBlocked = (now: Date) => sql<boolean>`(cardinality(listed_zones) > 0 or ${isHeldOff(now)})`

const columns = (now: Date) =>
  [
    'id',
    'ip_address',
    sql<number>`round(reputation_score::numeric, 2)::float8`.as('reputation_score'),
    'total_connections',
    'total_messages',
    'spam_count',
    'bounce_count',
    'auth_failure_count',
    'first_seen',
    'last_seen',
    'updated_at',
    isBlocked(now).as('is_blocked'),
    sql<string | null>`case
      when cardinality(listed_zones) > 0 then 'Listed by ' || array_to_string(listed_zones, ', ')
      when ${isHeldOff(now)} then block_reason end`.as('blocked_reason'),
    sql<string | null>`case when ${isHeldOff(now)} then block_until end`.as('blocked_until'),
  ] as const

export async function list(
  db: Db,
  filter: IpFilter,
  sort: Sort<(typeof IP_SORTS)[number]>,
  page: Page,
  now: Date,
) {
  const { q, is_blocked, max_score, min_score } = filter
  let query = db.selectFrom('ip_reputation')
  if (q) query = query.where(contains('ip_reputation.ip_address', q))
  if (is_blocked !== undefined) {
    query = query.where(sql<SqlBool>`${isBlocked(now)} = ${is_blocked}`)
  }
  if (max_score !== undefined) query = query.where('reputation_score', '<=', max_score)
  if (min_score !== undefined) query = query.where('reputation_score', '>=', min_score)
  const { ids, total } = await pageAndTotal(db, query, 'ip_reputation', sort, page)
  const rows = await db
    .selectFrom('ip_reputation')
    .select(columns(now))
    .where(withIds('ip_reputation', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

export const worst = (db: Db, limit: number, now: Date) =>
  db
    .selectFrom('ip_reputation')
    .select(columns(now))
    .orderBy('ip_reputation.reputation_score')
    .orderBy('id')
    .limit(limit)
    .execute()

/** The row of an IP address of this host, inserted if necessary. */
export async function lockOwn(tx: Tx, ip: string, now: Date) {
  const at = now.toISOString()
  await tx
    .insertInto('ip_reputation')
    .values({ id: ulid(), ip_address: ip, first_seen: at, last_seen: at, updated_at: at })
    .onConflict((conflict) => conflict.column('ip_address').doNothing())
    .execute()
  return tx
    .selectFrom('ip_reputation')
    .select(['reputation_score', 'listed_zones'])
    .where('ip_address', '=', ip)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export const setListed = (tx: Tx, ip: string, zones: string[], score: number, now: Date) =>
  tx
    .updateTable('ip_reputation')
    .set({
      listed_zones: zones,
      reputation_score: score,
      last_seen: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .where('ip_address', '=', ip)
    .execute()

/** No longer looked up, so the result is unknown. */
export const forgetListings = (db: Db, except: string[], now: Date) =>
  db
    .updateTable('ip_reputation')
    .set({ listed_zones: [], updated_at: now.toISOString() })
    .where(sql<SqlBool>`cardinality(listed_zones) > 0`)
    .where(sql<SqlBool>`ip_address <> all(${except}::text[])`)
    .execute()

/** Deletes IP addresses not seen since, except blocked and listed ones. */
export const deleteUnseen = (db: Db, since: Date, now: Date) =>
  db
    .deleteFrom('ip_reputation')
    .where('last_seen', '<', since.toISOString())
    .where(sql<SqlBool>`not ${isBlocked(now)}`)
    .execute()
