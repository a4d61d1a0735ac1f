import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fileSource, makeBackup, passphraseOf, verifyBackup } from '../backup/backup.ts'
import { folderOf, nameOf, removeOldBackups, stampOf } from '../backup/files.ts'
import { holdBackups } from '../backup/lock.ts'
import { watchProgress } from '../backup/watch.ts'
import { type Config, readConfig } from '../config/index.ts'
import type { Database } from '../database/database.ts'
import { requireMigrated } from '../database/migrate.ts'
import { failUnfinished, reportRun } from '../features/platform/backups/backups.repository.ts'
import { TimedOut, within } from '../lib/timeout.ts'
import { StartupError } from '../startup-error.ts'
import { forgetHost, reportCommand } from './backup-reports.ts'
import { print, tableProgress } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const options = {
  json: { type: 'boolean', default: false },
  out: { type: 'string' },
} as const

export async function backupCommand(args: string[]): Promise<void> {
  if (args[0] === 'report') return reportCommand(args.slice(1))
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const config = readConfig()
  const [verb, name] = positionals
  if (verb === undefined) return backup(config, values)
  if (verb === 'forget-host' && name !== undefined) return forgetHost(name, values.json)
  if (verb !== 'verify' || name === undefined) {
    throw new UsageError('backup takes verify FILE, report or forget-host NAME')
  }
  return verify(config, name, values.json)
}

/** Records the run before it begins, so that a run that was killed is visible too. */
async function backup(config: Config, values: { json: boolean; out?: string }): Promise<void> {
  passphraseOf(config)
  const at = new Date()
  const backup_id = stampOf(at)
  const path = resolve(values.out ?? join(folderOf(config), nameOf(backup_id)))
  const run = {
    backup_id,
    hostname: hostname(),
    backup_type: 'full' as const,
    target: 'database' as const,
    encrypted: true,
    storage_path: path,
  }
  const soon = deadline(config)
  const make = async ({ db, sql }: Database) => {
    await soon(requireMigrated(sql))
    const lock = await soon(holdBackups(sql))
    try {
      await soon(failUnfinished(db, run.hostname, at))
      await soon(reportRun(db, { ...run, status: 'running' }, at))
      const progress = tableProgress(values.json)
      const result = await makeBackup({ sql, settings: config, path, at, progress })
      const { size_bytes, checksum } = result
      const report = { ...run, status: 'completed' as const, size_bytes, checksum }
      await soon(reportRun(db, report, new Date()))
      return result
    } catch (error) {
      const error_message = error instanceof Error ? error.message : String(error)
      const report = { ...run, status: 'failed' as const, error_message }
      // The first error says more than that the database is away.
      await soon(reportRun(db, report, new Date())).catch(() => {})
      throw error
    } finally {
      await lock.release()
    }
  }
  const made = await withDatabase(make)
  const removed = removeOldBackups(config, at)
  print({ backup_id, ...made, verified: true, removed: removed.length }, values.json)
}

async function verify(config: Config, name: string, json: boolean): Promise<void> {
  const watch = watchProgress(config.BACKUP_TIMEOUT_SECONDS)
  watch.step(`reading ${name}`)
  try {
    const source = fileSource(resolve(name))
    const reading = verifyBackup(source, passphraseOf(config), watch.moved)
    const { about, ...counts } = await watch.guard(reading)
    const { backup_id, created_at, version } = about
    print({ file: name, backup_id, created_at, version, ...counts, verified: true }, json)
  } finally {
    watch.end()
  }
}

/** For statements that take no time unless the database is away. */
const deadline =
  ({ BACKUP_TIMEOUT_SECONDS: seconds }: Config) =>
  async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await within(seconds * 1000, work)
    } catch (error) {
      if (!(error instanceof TimedOut)) throw error
      throw new StartupError(`the database did not answer within ${seconds} s`)
    }
  }
