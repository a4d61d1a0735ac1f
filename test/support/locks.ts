import { sql } from 'kysely'
import type { Db } from '../../src/database/database.ts'
import { waitFor } from './wait.ts'

/** Waits until a statement of this database waits for a lock. */
export const untilBlocked = (db: Db) =>
  waitFor(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    return rows.length > 0
  })
