import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { inOrder, pageOfKnown, withIds } from '../../database/pages.ts'
import { containsInLowerCase } from '../../database/search.ts'
import type { Page } from '../../http/paging.ts'
import type { Sort } from '../../http/sorting.ts'
import { ulid } from '../../lib/ulid.ts'
import type { IpNews } from './ip-news.ts'

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
  if (q) query = query.where(containsInLowerCase('ip_reputation.ip_address', q))
  if (is_blocked !== undefined) {
    query = query.where(sql<SqlBool>`${isBlocked(now)} = ${is_blocked}`)
  }
  if (max_score !== undefined) query = query.where('reputation_score', '<=', max_score)
  if (min_score !== undefined) query = query.where('reputation_score', '>=', min_score)
  const { ids, total } = await pageOfKnown(db, query, 'ip_reputation', sort, page, {
    count: query.select(sql<number>`count(*)`.as('total')),
    isAddedUp: false,
  })
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

/** Adds what happened, in the order of addresses, so that nobody waits for each other for ever. */
export async function record(tx: Tx, news: readonly IpNews[], now: Date): Promise<void> {
  if (news.length === 0) return
  const rows = news
    .map((one) => ({ ...one, id: ulid() }))
    .sort((one, other) => (one.ip < other.ip ? -1 : 1))
  const columnsOfNews = sql`as news (id text, ip text, first_score float8, change float8, lowest float8,
    highest float8, connections bigint, messages bigint, spam bigint, bounces bigint,
    auth_failures bigint)`
  const at = now.toISOString()
  const inserted = await sql<{ ip_address: string }>`
    insert into ip_reputation (id, ip_address, reputation_score, first_seen, last_seen, updated_at)
    select id, ip, first_score, ${at}, ${at}, ${at}
    from json_to_recordset(${rows}::json) ${columnsOfNews} order by ip
    on conflict (ip_address) do nothing
    returning ip_address`.execute(tx)
  const fresh = inserted.rows.map(({ ip_address }) => ip_address)
  await sql`
    update ip_reputation set
      reputation_score = case when ip_address = any(${fresh}::text[]) then reputation_score
        else least(highest, greatest(lowest, reputation_score + change)) end,
      total_connections = total_connections + connections,
      total_messages = total_messages + messages,
      spam_count = spam_count + spam,
      bounce_count = bounce_count + bounces,
      auth_failure_count = auth_failure_count + auth_failures,
      -- To the minute: there is an index on it, and a row that no index has to follow costs a fifth.
      last_seen = case when last_seen < ${at}::timestamptz - interval '1 minute' then ${at}::timestamptz
        else last_seen end,
      updated_at = ${at}
    from (
      select news.* from json_to_recordset(${rows}::json) ${columnsOfNews}
      join ip_reputation on ip_address = ip
      order by ip for update of ip_reputation
    ) as news
    where ip_address = ip`.execute(tx)
}

/** Shows a block beside the rest; who is let in is decided elsewhere. Null lifts it. */
export const showBlock = (
  tx: Tx,
  ip: string,
  block: { reason: string; until: Date } | null,
  now: Date,
) =>
  tx
    .updateTable('ip_reputation')
    .set({
      block_reason: block?.reason ?? null,
      block_until: block?.until.toISOString() ?? null,
      updated_at: now.toISOString(),
    })
    .where('ip_address', '=', ip)
    .execute()

/** The row of one of our own addresses, made if need be. */
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

/** No longer looked up, so nobody knows. */
export const forgetListings = (db: Db, except: string[], now: Date) =>
  db
    .updateTable('ip_reputation')
    .set({ listed_zones: [], updated_at: now.toISOString() })
    .where(sql<SqlBool>`cardinality(listed_zones) > 0`)
    .where(sql<SqlBool>`ip_address <> all(${except}::text[])`)
    .execute()

/** Those that have not been seen since, unless something stands against them. */
export const deleteUnseen = (db: Db, since: Date, now: Date) =>
  db
    .deleteFrom('ip_reputation')
    .where('last_seen', '<', since.toISOString())
    .where(sql<SqlBool>`not ${isBlocked(now)}`)
    .execute()
