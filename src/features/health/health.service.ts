import { sql } from 'kysely'
import type { Core } from '../../core.ts'
import { within } from '../../lib/timeout.ts'

const TIMEOUT_MS = 2000

export type HealthService = ReturnType<typeof healthService>

export const healthService = ({ db }: Pick<Core, 'db'>) => ({
  async databaseAnswers(): Promise<boolean> {
    try {
      await within(TIMEOUT_MS, sql`select 1`.execute(db))
      return true
    } catch {
      return false
    }
  },
})
