import { type SqlBool, sql } from 'kysely'
import { OPERATOR_BLOCK } from '../../../access/throttle.repository.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inOrder, pageAndTotal, withIds } from '../../../database/paging.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'
import type { Sort } from '../../../http/sorting.ts'

export interface FailedAuthFilter {
  client_ip?: string
  username?: string
  service?: string
  blocked?: boolean
  from?: Date
  to?: Date
  q?: string
}

export type FailedAuthSort = Sort<'last_attempt_at' | 'attempt_count' | 'first_attempt_at'>

const isBlocked = (now: Date) =>
  sql<boolean>`coalesce(blocked_until > ${now.toISOString()}::timestamptz, false)`

function matching(db: Db, filter: FailedAuthFilter, now: Date) {
  let query = db.selectFrom('failed_auth_attempts')
  const { client_ip, username, service, blocked, from, to, q } = filter
  if (client_ip !== undefined) query = query.where('client_ip', '=', client_ip)
  if (username !== undefined) query = query.where('username', '=', username.toLowerCase())
  if (service !== undefined) query = query.where('service', '=', service)
  if (blocked !== undefined) query = query.where(sql<SqlBool>`${isBlocked(now)} = ${blocked}`)
  if (from) query = query.where('last_attempt_at', '>=', from.toISOString())
  if (to) query = query.where('last_attempt_at', '<=', to.toISOString())
  if (q) query = query.where(contains(['client_ip', 'username'], q))
  return query
}

export async function list(
  db: Db,
  filter: FailedAuthFilter,
  sort: FailedAuthSort,
  page: Page,
  now: Date,
) {
  const query = matching(db, filter, now)
  const { ids, total } = await pageAndTotal(db, query, 'failed_auth_attempts', sort, page)
  const rows = await db
    .selectFrom('failed_auth_attempts')
    .select([
      'id',
      'client_ip',
      'username',
      'service',
      'failure_reason',
      'attempt_count',
      'blocked_until',
      isBlocked(now).as('blocked'),
      'first_attempt_at',
      'last_attempt_at',
    ])
    .where(withIds('failed_auth_attempts', ids))
    .execute()
  return { items: inOrder(ids, rows), total }
}

/** Marks every row of the IP address and returns their number. */
export async function block(tx: Tx, ip: string, until: Date): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('failed_auth_attempts')
    .set({ blocked_until: until.toISOString(), failure_reason: OPERATOR_BLOCK })
    .where('client_ip', '=', ip)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Lifts the block and keeps the counters. */
export async function unblock(tx: Tx, ip: string, now: Date): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('failed_auth_attempts')
    .set({ blocked_until: null, failure_reason: 'invalid_credentials' })
    .where('client_ip', '=', ip)
    .where('blocked_until', '>', now.toISOString())
    .executeTakeFirst()
  return Number(numUpdatedRows)
}
