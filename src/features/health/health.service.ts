import { sql } from 'kysely'
import type { Core } from '../../core.ts'
import { knownMigrations } from '../../database/migrate.ts'
import { within } from '../../lib/timeout.ts'

const TIMEOUT_MS = 2000

export type HealthService = ReturnType<typeof healthService>

export function healthService(core: Pick<Core, 'db' | 'stopping'>) {
  let names: string[] | undefined

  /** Returns whether the database answers and has every migration of this version. */
  async function isMigrated(): Promise<boolean> {
    names ??= knownMigrations().map(({ name }) => name)
    const { rows } = await sql<{ applied: number }>`
      select count(*) as applied from schema_migrations
      where name = any(${names}::text[])`.execute(core.db)
    return rows[0]?.applied === names.length
  }

  return {
    async databaseAnswers(): Promise<boolean> {
      try {
        await within(TIMEOUT_MS, sql`select 1`.execute(core.db))
        return true
      } catch {
        return false
      }
    },

    /** The reason why this process should get no requests; undefined when it should. */
    async whyNotReady(): Promise<string | undefined> {
      if (core.stopping.aborted) return 'The process is stopping'
      try {
        const isUpToDate = await within(TIMEOUT_MS, isMigrated())
        return isUpToDate ? undefined : 'Migrations of the database are missing'
      } catch {
        return 'The database does not answer'
      }
    },
  }
}
