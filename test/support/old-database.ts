import { inject } from 'vitest'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { App } from './app.ts'
import { emptyDatabase } from './postgres.ts'

/** Runs the work on a database with the migrations up to this one, and on a core that uses it. */
export async function withOldDatabase(
  app: App,
  last: string,
  work: (sql: Database['sql'], core: App['core']) => Promise<void>,
): Promise<void> {
  const made = await emptyDatabase(inject('databaseUrl'))
  const { db, sql, close } = openDatabase(made.url, { pool: 4, name: 'upgrade' })
  try {
    await migrate(sql, { last })
    await work(sql, { ...app.core, db, now: () => new Date() })
  } finally {
    await close()
    await made.drop()
  }
}
