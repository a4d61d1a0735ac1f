import { setTimeout as sleep } from 'node:timers/promises'
import { type Config, readConfig } from '../config/index.ts'
import { patiently } from '../database/budget.ts'
import { holdDataDir, prepareDataDir } from '../database/data-dir.ts'
import { type Database, openDatabase, type Target } from '../database/database.ts'
import { runningEmbedded, startEmbedded } from '../database/embedded.ts'
import { findPrimary } from '../database/primary.ts'
import { TimedOut, within } from '../lib/timeout.ts'
import { StartupError } from '../startup-error.ts'

const PATIENCE_MS = 30_000
const CLOSE_MS = 10_000

/**
 * Opens the external database, that of a running server, or starts the embedded one for the command.
 * `alone` refuses the database of a running server.
 */
export async function withDatabase<Result>(
  work: (database: Database, target: Target) => Promise<Result>,
  { alone = false } = {},
): Promise<Result> {
  const config = readConfig()
  if (config.DATABASE_URL) return using(config.DATABASE_URL, work)
  prepareDataDir(config.DATA_DIR)
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; await sleep(50)) {
    const hold = await holdDataDir(config.DATA_DIR)
    if (hold) {
      const report = (message: string) => process.stderr.write(`${message}\n`)
      const server = await startEmbedded(config.DATA_DIR, report)
      try {
        return await using(server.target, work)
      } finally {
        await server.stop()
        await hold.release()
      }
    }
    const running = runningEmbedded(config.DATA_DIR)
    if (running && alone) {
      throw new StartupError(`a server is running on ${config.DATA_DIR}; stop it first`)
    }
    if (running) return using(running, work)
  }
  throw new StartupError(
    `the database under ${config.DATA_DIR} is held by another process, but does not answer`,
  )
}

async function using<Result>(
  target: Target,
  work: (database: Database, target: Target) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase(await findPrimary(target), { pool: 2, name: 'command line' })
  try {
    return await patiently(() => work(database, target))
  } finally {
    // A database that hangs does not answer to this either.
    await within(CLOSE_MS, database.close()).catch(() => {})
  }
}

/** For statements that take no time unless the database is away. */
export const deadline =
  ({ BACKUP_TIMEOUT_SECONDS: seconds }: Pick<Config, 'BACKUP_TIMEOUT_SECONDS'>) =>
  async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await within(seconds * 1000, work)
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error
      throw new StartupError(`the database did not answer within ${seconds} s`)
    }
  }
