import { sql } from 'kysely'
import type { Block } from './block.ts'

export const migrations: Block<{ failed: number }> = ({ db }) =>
  db
    .selectFrom('migration_jobs')
    .select(sql<number>`count(*)`.as('failed'))
    .where('status', '=', 'failed')
    .executeTakeFirstOrThrow()
