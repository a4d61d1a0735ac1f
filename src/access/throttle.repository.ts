import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

/** What failures are counted by: where they came from, or whom they were aimed at. */
export type Dimension = { client_ip: string } | { username: string }

export const OPERATOR_BLOCK = 'operator_block'

const matches = (dimension: Dimension) =>
  'client_ip' in dimension
    ? sql<SqlBool>`client_ip = ${dimension.client_ip} and username is null`
    : sql<SqlBool>`client_ip = '' and username = ${dimension.username}`

/** Until when this service is closed to these dimensions; an operator's block closes all of them. */
export async function findBlock(
  db: Db,
  service: string,
  dimensions: Dimension[],
  now: Date,
): Promise<Date | undefined> {
  const ip = dimensions.flatMap((one) => ('client_ip' in one ? [one.client_ip] : []))
  const names = dimensions.flatMap((one) => ('username' in one ? [one.username] : []))
  const row = await db
    .selectFrom('failed_auth_attempts')
    .select((eb) => eb.fn.max('blocked_until').as('until'))
    .where('blocked_until', '>', now.toISOString())
    .where(
      sql<SqlBool>`(
        (client_ip = any(${ip}::text[]) and
          ((service = ${service} and username is null) or failure_reason = ${OPERATOR_BLOCK}))
        or (username = any(${names}::text[]) and client_ip = '' and service = ${service})
      )`,
    )
    .executeTakeFirst()
  return row?.until ? new Date(row.until) : undefined
}

/** Addresses that may not present API keys, with the end of their block. */
export const listBlockedAddresses = (db: Db, now: Date, ip?: string) =>
  db
    .selectFrom('failed_auth_attempts')
    .select((eb) => ['client_ip', eb.fn.max('blocked_until').as('until')])
    .where('blocked_until', '>', now.toISOString())
    .where(
      sql<SqlBool>`client_ip <> '' and
        ((service = 'api_key' and username is null) or failure_reason = ${OPERATOR_BLOCK})`,
    )
    .$if(ip !== undefined, (query) => query.where('client_ip', '=', ip as string))
    .groupBy('client_ip')
    .execute()

/** Failures of one dimension are counted one after the other, also across processes. */
export const lock = (tx: Tx, service: string, dimension: Dimension) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`${service} ${JSON.stringify(dimension)}`}, 0))`.execute(
    tx,
  )

const isBlockedByOperator = (now: Date) =>
  sql<SqlBool>`failure_reason = ${OPERATOR_BLOCK} and blocked_until > ${now.toISOString()}::timestamptz`

/** Continues the row whose last attempt lies inside the window. */
export const continueRow = (
  tx: Tx,
  service: string,
  dimension: Dimension,
  since: Date,
  now: Date,
  reason: string,
) =>
  tx
    .updateTable('failed_auth_attempts')
    .set({
      attempt_count: sql`attempt_count + 1`,
      last_attempt_at: now.toISOString(),
      // An operator's block that stands keeps its name.
      failure_reason: sql`case when ${isBlockedByOperator(now)} then failure_reason
        else ${reason} end`,
    })
    .where('id', '=', (eb) =>
      eb
        .selectFrom('failed_auth_attempts')
        .select('id')
        .where('service', '=', service)
        .where(matches(dimension))
        .where('last_attempt_at', '>', since.toISOString())
        .orderBy('last_attempt_at', 'desc')
        .limit(1),
    )
    .returning(['id', 'attempt_count'])
    .executeTakeFirst()

export const insertRow = (
  tx: Tx,
  service: string,
  dimension: Dimension,
  now: Date,
  reason: string,
) =>
  tx
    .insertInto('failed_auth_attempts')
    .values({
      id: ulid(),
      client_ip: 'client_ip' in dimension ? dimension.client_ip : '',
      username: 'username' in dimension ? dimension.username : null,
      service,
      failure_reason: reason,
      first_attempt_at: now.toISOString(),
      last_attempt_at: now.toISOString(),
    })
    .returning(['id', 'attempt_count'])
    .executeTakeFirstOrThrow()

/** An operator's block that stands is not shortened by ours. */
export const setBlock = (tx: Tx, id: string, until: Date, now: Date) =>
  tx
    .updateTable('failed_auth_attempts')
    .set({ blocked_until: until.toISOString() })
    .where('id', '=', id)
    .where(sql<SqlBool>`(${isBlockedByOperator(now)}) is not true`)
    .execute()

/** A success clears what the failures before it had counted, but not an operator's block. */
export const clear = (db: Db, service: string, dimension: Dimension) =>
  db
    .deleteFrom('failed_auth_attempts')
    .where('service', '=', service)
    .where(matches(dimension))
    .where(sql<SqlBool>`failure_reason is distinct from ${OPERATOR_BLOCK}`)
    .execute()

/** What is long over; a block that still stands stays, however old its failures are. */
export const deleteAttemptsBefore = (db: Db, before: Date, now: Date) =>
  db
    .deleteFrom('failed_auth_attempts')
    .where('last_attempt_at', '<', before.toISOString())
    .where(sql<SqlBool>`(blocked_until > ${now.toISOString()}::timestamptz) is not true`)
    .execute()
