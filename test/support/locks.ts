import { sql } from 'kysely'
import type { Db } from '../../src/database/database.ts'
import { waitFor } from './wait.ts'

/** Waits until this many statements of this database wait for a lock. */
export const untilBlocked = (db: Db, count = 1) =>
  waitFor(async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    return rows.length >= count
  })
