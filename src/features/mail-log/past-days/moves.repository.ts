import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { heldBy, isFree, type Lease, released, setLeased } from '../../../jobs/lease.ts'

/** One day of the log on its way to ClickHouse. */
export interface Move {
  day: string
  /** The partition of the day in PostgreSQL. */
  partition: string
  copy_id: string | null
  copied_at: string | null
}

/**
 * Claims the oldest day that ended before a time, has a partition of its own, and is in no process's hands.
 * Its copy, when there is one, must have been there at `copiedBefore`.
 */
export async function claim(db: Db, lease: Lease, endedBefore: Date, copiedBefore: Date) {
  const due = sql`
    select (begins_at at time zone 'UTC')::date as day, partition_name
    from day_partitions
    where table_name = 'mail_log' and ends_at <= ${endedBefore.toISOString()}::timestamptz
      and ends_at - begins_at = interval '1 day'`
  // A day that expired before it had moved.
  await sql`
    delete from mail_log_moves where moved_at is null and ${isFree} and not exists (
      select from day_partitions where table_name = 'mail_log'
        and begins_at = mail_log_moves.day::timestamp at time zone 'UTC')`.execute(db)
  await sql`
    insert into mail_log_moves (day) select day from (${due}) as due
    on conflict do nothing`.execute(db)
  const { rows } = await sql<Move>`
    with free as (
      select day, partition_name from mail_log_moves join (${due}) as due using (day)
      where moved_at is null and ${isFree}
        and (copied_at is null or copied_at <= ${copiedBefore.toISOString()}::timestamptz)
      order by day limit 1 for update of mail_log_moves skip locked
    )
    update mail_log_moves set ${setLeased(lease)} from free
    where mail_log_moves.day = free.day
    returning free.day::text as day, partition_name as partition, copy_id, copied_at`.execute(db)
  return rows[0]
}

const ofDay = (day: string) => sql<SqlBool>`day = ${day}::date`

/** False when the lease was lost. */
export async function update(
  db: Db,
  day: string,
  lease: Lease,
  changes: Partial<Record<'copy_id' | 'copied_at' | 'moved_at', string | null>> & {
    row_count?: number
  },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('mail_log_moves')
    .set(changes)
    .where(ofDay(day))
    .where(heldBy(lease))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const release = (db: Db, day: string, lease: Lease) =>
  db.updateTable('mail_log_moves').set(released).where(ofDay(day)).where(heldBy(lease)).execute()

/** Stores the figures of a day that are asked for often. */
export const countDay = (tx: Tx, day: string, partition: string) =>
  sql`select count_mail_log_day(${partition}, ${day}::date)`.execute(tx)

/** The copies of days that have moved or are being copied. */
export async function copyIds(db: Db): Promise<Set<string>> {
  const rows = await db.selectFrom('mail_log_moves').select('copy_id').execute()
  return new Set(rows.flatMap(({ copy_id }) => copy_id ?? []))
}

/** Days that have moved and ended before a time, oldest first. */
export async function movedBefore(db: Db, before: Date) {
  const { rows } = await sql<{ day: string; copy_id: string }>`
    select day::text as day, copy_id from mail_log_moves
    where moved_at is not null and day < ${dateOf(before)}::date order by day`.execute(db)
  return rows
}

export const forget = (tx: Tx, day: string) =>
  tx.deleteFrom('mail_log_moves').where(ofDay(day)).execute()

const dateOf = (time: Date) => time.toISOString().slice(0, 10)
