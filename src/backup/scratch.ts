import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config/index.ts'
import { holdDataDir, prepareDataDir } from '../database/data-dir.ts'
import { type Database, openDatabase } from '../database/database.ts'
import { startEmbedded } from '../database/embedded.ts'
import { StartupError } from '../startup-error.ts'

/**
 * A PostgreSQL of its own for the time of the work, under DATA_DIR, so that the database in use is
 * not touched. Files that a killed process left there are used again and removed at the end.
 */
export async function withScratch<Result>(
  { DATA_DIR }: Pick<Config, 'DATA_DIR'>,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const folder = join(DATA_DIR, 'restore-scratch')
  prepareDataDir(folder)
  const hold = await holdDataDir(folder)
  if (!hold) throw new StartupError(`another drill or restore works in ${folder}`)
  try {
    const server = await startEmbedded(folder, () => {})
    try {
      const database = openDatabase(server.target, { pool: 2, name: 'command line' })
      try {
        return await work(database)
      } finally {
        await database.close()
      }
    } finally {
      await server.stop()
    }
  } finally {
    await hold.release()
    rmSync(folder, { recursive: true, force: true })
  }
}
