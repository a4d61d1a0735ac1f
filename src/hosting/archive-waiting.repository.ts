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
