import { sql } from 'kysely'
import type { Db } from '../database/database.ts'

/** Hours since the oldest message waits for its upload; 0 when none waits. */
export async function hoursWaiting(db: Db, now: Date): Promise<number> {
  const { rows } = await sql<{ hours: number | null }>`
    select extract(epoch from ${now.toISOString()}::timestamptz - min(archived_at))::float8 / 3600
      as hours
    from archived_messages where storage_type = 'spool'`.execute(db)
  return Math.max(0, rows[0]?.hours ?? 0)
}

/** Objects whose deletion should have succeeded long ago: it fails, or their storage is not configured. */
export async function overdueDeletions(db: Db, now: Date): Promise<number> {
  // The object of a re-key that was interrupted is kept for its first hour.
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from archive_deletions
    where created_at < ${now.toISOString()}::timestamptz - interval '2 hours'`.execute(db)
  return rows[0]?.count ?? 0
}

/**
 * Damaged messages that the last complete check found, or a later one that is not complete; null before
 * the first check.
 */
export async function damagedMessages(db: Db): Promise<number | null> {
  const { rows } = await sql<{ damaged: number | null }>`
    select max(damaged) as damaged from archive_checks
    where begun_at >= coalesce(
      (select max(begun_at) from archive_checks where finished_at is not null), '-infinity')`.execute(
    db,
  )
  return rows[0]?.damaged ?? null
}
