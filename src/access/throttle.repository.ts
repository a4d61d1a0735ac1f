import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

/** Failures are counted per client network (see `throttleKey`) and per user name. */
export type Dimension = { client_ip: string } | { username: string }

export const OPERATOR_BLOCK = 'operator_block'
/** Begins the notification that the block of a mail account has changed; its login follows. */
export const ACCOUNT_BLOCK = 'account-block:'

const MAX_COUNTERPARTS = 1000

const matches = (dimension: Dimension) =>
  'client_ip' in dimension
    ? sql<SqlBool>`client_ip = ${dimension.client_ip} and username is null`
    : sql<SqlBool>`client_ip = '' and username = ${dimension.username}`

/** The end of the longest block of these dimensions; an operator's block applies to every service. */
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

/** The end of the block that API keys from this IP address have, if any. */
export async function findKeyBlock(db: Db, now: Date, ip: string): Promise<string | undefined> {
  const row = await db
    .selectFrom('failed_auth_attempts')
    .select((eb) => eb.fn.max('blocked_until').as('until'))
    .where('blocked_until', '>', now.toISOString())
    .where('client_ip', '=', ip)
    .where(
      sql<SqlBool>`((service = 'api_key' and username is null) or failure_reason = ${OPERATOR_BLOCK})`,
    )
    .executeTakeFirst()
  return row?.until ?? undefined
}

/** Serializes the counting of failures per dimension, also across processes. */
export const lock = (tx: Tx, service: string, dimension: Dimension) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${`${service} ${JSON.stringify(dimension)}`}, 0))`.execute(
    tx,
  )

const isBlockedByOperator = (now: Date) =>
  sql<SqlBool>`failure_reason = ${OPERATOR_BLOCK} and blocked_until > ${now.toISOString()}::timestamptz`

const counted = ['id', sql<number>`cardinality(recent_failures)`.as('failures')] as const

/** Continues the row whose last attempt lies inside the window; counts the failures inside it. */
export const continueRow = (
  tx: Tx,
  service: string,
  dimension: Dimension,
  since: Date,
  now: Date,
  reason: string,
  counterpart: string | null,
) =>
  tx
    .updateTable('failed_auth_attempts')
    .set({
      attempt_count: sql`attempt_count + 1`,
      recent_failures: sql`array(select failure from unnest(recent_failures) as failure
        where failure > ${since.toISOString()}::timestamptz) || ${now.toISOString()}::timestamptz`,
      last_attempt_at: now.toISOString(),
      // An active block of an operator keeps its reason.
      failure_reason: sql`case when ${isBlockedByOperator(now)} then failure_reason
        else ${reason} end`,
      counterparts: sql`case
        when ${counterpart}::text is null or counterpart_hash(${counterpart}) = any(counterparts)
          or cardinality(counterparts) >= ${MAX_COUNTERPARTS}::int then counterparts
        else counterparts || counterpart_hash(${counterpart}) end`,
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
    .returning(counted)
    .executeTakeFirst()

export const insertRow = (
  tx: Tx,
  service: string,
  dimension: Dimension,
  now: Date,
  reason: string,
  counterpart: string | null,
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
      recent_failures: sql`array[${now.toISOString()}::timestamptz]`,
      counterparts: sql`array_remove(array[counterpart_hash(${counterpart})], null)`,
    })
    .returning(counted)
    .executeTakeFirstOrThrow()

/** Does not shorten an active block of an operator. */
export const setBlock = (tx: Tx, id: string, until: Date, now: Date) =>
  tx
    .updateTable('failed_auth_attempts')
    .set({ blocked_until: until.toISOString() })
    .where('id', '=', id)
    .where(sql<SqlBool>`(${isBlockedByOperator(now)}) is not true`)
    .execute()

/** A success resets the count of failures, but not an operator's block. */
export const clear = (db: Db, service: string, dimension: Dimension) =>
  db
    .deleteFrom('failed_auth_attempts')
    .where('service', '=', service)
    .where(matches(dimension))
    .where(sql<SqlBool>`failure_reason is distinct from ${OPERATOR_BLOCK}`)
    .execute()

/** Deletes old failures, except those of an active block. */
export const deleteAttemptsBefore = (db: Db, before: Date, now: Date) =>
  db
    .deleteFrom('failed_auth_attempts')
    .where('last_attempt_at', '<', before.toISOString())
    .where(sql<SqlBool>`(blocked_until > ${now.toISOString()}::timestamptz) is not true`)
    .execute()
