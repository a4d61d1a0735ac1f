import type { Sql } from 'postgres'
import { ownConnection } from '../database/database.ts'
import { StartupError } from '../startup-error.ts'

// Key of the advisory lock; an arbitrary number.
const LOCK = 5_377_023

/** One backup at a time; the lock ends with the connection, however the process ends. */
export async function holdBackups(sql: Sql): Promise<{ release(): Promise<void> }> {
  const own = ownConnection(sql)
  const release = () => own.end({ timeout: 1 })
  try {
    const [lock] = await own`select pg_try_advisory_lock(${LOCK}) as held`
    if (!lock?.held) throw new StartupError('another backup of this database is running')
    return { release }
  } catch (error) {
    await release()
    throw error
  }
}
