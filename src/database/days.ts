import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { midnightOf } from '../lib/dates.ts'
import { DAY_MS } from '../lib/time.ts'
import type { Db, Tx } from './database.ts'

/**
 * A table that is divided into days, in UTC. Rows without a day of their own are in `days.NAME_default`.
 * Its primary key is the time and `id`.
 */
export interface DayTable {
  name: string
  /** The column of the time. */
  time: string
}

const DAYS_AHEAD = 3
/** A day with more rows to keep than this stays; copying them would take too long. */
const MOST_COPIED = 10_000
const BATCH_SIZE = 5000
const LOCK_NOT_AVAILABLE = '55P03'
const LOCK_TRIES = 5

/** Makes the partitions of today and the next days. A row that comes before its day is not lost by it. */
export async function makeDays(db: Db, { name, time }: DayTable, now: Date): Promise<number> {
  let made = 0
  for (let ahead = 0; ahead <= DAYS_AHEAD; ahead++) {
    const day = new Date(now.getTime() + ahead * DAY_MS).toISOString().slice(0, 10)
    const rows = await withLocks(db, async (tx) => {
      const result = await sql<{ made: boolean }>`
        select make_day(${name}, ${time}, ${day}::date) as made`.execute(tx)
      return result.rows
    })
    if (rows?.[0]?.made) made++
  }
  return made
}

/**
 * Makes an index for searches in a text column of each day that is over. On the day of today it would cost
 * a fifth of the ingestion. Returns the number of indexes.
 */
export async function indexPastDays(
  db: Db,
  { name }: DayTable,
  column: string,
  now: Date,
): Promise<number> {
  const { rows } = await sql<{ partition_name: string; is_broken: boolean }>`
    select partition_name, found.indexrelid is not null as is_broken
    from day_partitions
    left join pg_index found
      on found.indexrelid = to_regclass(format('days.%I', partition_name || '_' || ${column}))
    where table_name = ${name} and ends_at <= ${now.toISOString()}::timestamptz
      and found.indisvalid is not true
    order by ends_at desc`.execute(db)
  for (const { partition_name, is_broken } of rows) {
    const index = `${partition_name}_${column}`
    // An interrupted build leaves an invalid index.
    if (is_broken) await sql`drop index concurrently if exists ${sql.id('days', index)}`.execute(db)
    await sql`create index concurrently if not exists ${sql.id(index)}
      on ${sql.id('days', partition_name)} using gin (${sql.ref(column)} gin_trgm_ops)`.execute(db)
  }
  return rows.length
}

export interface Expiry {
  /** Days that end before this time have expired. */
  before: Date
  /** Rows that stay all the same. */
  isKept?: RawBuilder<SqlBool>
  /** Rows that are deleted at a time where there is no day to drop. */
  batchSize?: number
}

export interface Expired {
  days: number
  /** Rows that were moved out of a day before it was dropped. */
  kept: number
  /** Rows that were deleted one by one. */
  deleted: number
}

/**
 * Drops the days before this time. Rows that `isKept` names go to the default partition first, and are
 * deleted once it no longer names them.
 */
export async function dropDays(
  db: Db,
  table: DayTable,
  { before, isKept = sql<SqlBool>`false`, batchSize = BATCH_SIZE }: Expiry,
): Promise<Expired> {
  const midnight = midnightOf(before).toISOString()
  const { rows: old } = await sql<{ partition_name: string }>`
    select partition_name from day_partitions
    where table_name = ${table.name} and ends_at <= ${midnight}::timestamptz
    order by ends_at`.execute(db)
  const sums: Expired = { days: 0, kept: 0, deleted: 0 }
  for (const { partition_name } of old) {
    const kept = await withLocks(db, (tx) => dropDay(tx, table, partition_name, isKept))
    if (kept === undefined) continue
    sums.days++
    sums.kept += kept
  }
  for (;;) {
    const batch = await deleteBatch(db, table, { before: midnight, isKept, batchSize })
    sums.deleted += batch.deleted
    if (batch.found < batchSize) return sums
  }
}

/** Returns the number of rows that were kept; undefined when there are too many of them. */
async function dropDay(
  tx: Tx,
  { name }: DayTable,
  partition: string,
  isKept: RawBuilder<SqlBool>,
): Promise<number | undefined> {
  const day = sql.id('days', partition)
  const row = sql.ref(name)
  // No row may be added, and none may come to be kept, between the copy and the end of the day: this waits
  // for transactions that have locked rows of the day.
  await sql`lock table ${day} in exclusive mode`.execute(tx)
  const { rows } = await sql`
    select 1 from ${day} as ${row} where ${isKept} limit ${MOST_COPIED + 1}`.execute(tx)
  if (rows.length > MOST_COPIED) return undefined
  if (rows.length > 0) {
    // Made and filled apart: the default partition cannot take rows of a day that is still attached.
    await sql`create temporary table kept_rows on commit drop as
      select * from ${day} as ${row} where ${isKept}`.execute(tx)
  }
  await sql`drop table ${day}`.execute(tx)
  if (rows.length > 0) {
    await sql`insert into ${sql.id('days', `${name}_default`)} select * from kept_rows`.execute(tx)
  }
  return rows.length
}

/**
 * Drops a day in the transaction of the work, when it returns true. Readers go on during the work, and writers
 * of the day wait.
 */
export const replaceDay = (
  db: Db,
  partition: string,
  work: (tx: Tx) => Promise<boolean>,
): Promise<boolean> =>
  withLocks(db, async (tx) => {
    const day = sql.id('days', partition)
    await sql`lock table ${day} in exclusive mode`.execute(tx)
    const isReplaced = await work(tx)
    if (isReplaced) await sql`drop table ${day}`.execute(tx)
    return isReplaced
  })

/**
 * Deletes old rows of partitions that stay: the default one, that of an upgrade, and days with kept rows.
 * The rows are locked first, so that the second statement sees what has come to keep them meanwhile.
 */
const deleteBatch = (
  db: Db,
  { name, time }: DayTable,
  { before, isKept, batchSize }: { before: string } & Required<Omit<Expiry, 'before'>>,
) =>
  db.transaction().execute(async (tx) => {
    const isOld = sql`${sql.ref(time)} < ${before}::timestamptz and (${isKept}) is not true`
    // As text, because times are read without their microseconds.
    const { rows } = await sql<{ time: string; id: string }>`
      select ${sql.ref(time)}::text as time, id from ${sql.table(name)}
      where ${isOld} order by ${sql.ref(time)} limit ${batchSize}
      for update skip locked`.execute(tx)
    const { numAffectedRows = 0n } = await sql`
      delete from ${sql.table(name)} using unnest(${rows.map((row) => row.time)}::timestamptz[],
        ${rows.map(({ id }) => id)}::text[]) as locked (locked_time, locked_id)
      where ${sql.ref(time)} = locked_time and ${sql.ref(`${name}.id`)} = locked_id
        and ${isOld}`.execute(tx)
    return { found: rows.length, deleted: Number(numAffectedRows) }
  })

/**
 * Waits so briefly for locks that no reader or writer is held up behind it, and gives up before PostgreSQL
 * looks for deadlocks. After some tries the work is left to the next run.
 */
async function withLocks<Result>(db: Db, work: (tx: Tx) => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await db.transaction().execute(async (tx) => {
        await sql`set local lock_timeout = 500`.execute(tx)
        return work(tx)
      })
    } catch (error) {
      const { code } = error as { code?: string }
      if (code !== LOCK_NOT_AVAILABLE || tries === LOCK_TRIES) throw error
    }
  }
}
