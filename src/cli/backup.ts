import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fileSource, makeBackup, passphraseOf, verifyBackup } from '../backup/backup.ts'
import { folderOf, nameOf, stampOf } from '../backup/files.ts'
import { holdBackups } from '../backup/lock.ts'
import { watchProgress } from '../backup/watch.ts'
import { type Config, readConfig } from '../config/index.ts'
import type { Database } from '../database/database.ts'
import { requireMigrated } from '../database/migrate.ts'
import { failUnfinished, reportRun } from '../features/platform/backups/backups.repository.ts'
import { StartupError } from '../startup-error.ts'
import { drillCommand } from './backup-drill.ts'
import { type BackupPlaces, backupPlaces } from './backup-places.ts'
import { forgetHost, reportCommand } from './backup-reports.ts'
import { print, tableProgress } from './output.ts'
import { UsageError } from './usage.ts'
import { deadline, withDatabase } from './with-database.ts'

const options = {
  json: { type: 'boolean', default: false },
  out: { type: 'string' },
  report: { type: 'string' },
} as const

export async function backupCommand(args: string[]): Promise<void> {
  if (args[0] === 'report') return reportCommand(args.slice(1))
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const config = readConfig()
  const [verb, name] = positionals
  if (verb === 'forget-host' && name !== undefined) return forgetHost(name, values.json)
  const places = backupPlaces(config)
  try {
    if (verb === undefined) return await backup(config, places, values)
    if (verb === 'list') return print(await places.list(), values.json)
    if (verb === 'verify' && name !== undefined) {
      return await verify(config, places, name, values.json)
    }
    if (verb === 'drill') {
      return await drillCommand(config, places, name ?? 'latest', values)
    }
    if (verb === 'upload' && name !== undefined) {
      return await upload(config, places, name, values.json)
    }
  } finally {
    places.close()
  }
  throw new UsageError(
    'backup takes list, verify FILE, upload FILE, drill, report or forget-host NAME',
  )
}

/** Records the run before it begins, so that a run that was killed is visible too. */
async function backup(
  config: Config,
  places: BackupPlaces,
  values: { json: boolean; out?: string },
): Promise<void> {
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
    storage_path: places.bucket?.locationOf(nameOf(backup_id)) ?? path,
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
      const copied = await copy(places, path, nameOf(backup_id), checksum, values.json)
      const report = { ...run, status: 'completed' as const, size_bytes, checksum }
      await soon(reportRun(db, report, new Date()))
      return { ...result, ...copied }
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
  const removed = await places.removeExpired(at)
  print({ backup_id, ...made, verified: true, removed }, values.json)
}

/** Copies a backup into the bucket, if there is one. */
async function copy(
  { bucket }: BackupPlaces,
  path: string,
  name: string,
  checksum: string,
  isQuiet: boolean,
) {
  if (!bucket) return {}
  const moved = (done: number, of: number) => {
    if (!isQuiet) process.stderr.write(`upload: ${Math.floor((100 * done) / of)} %\n`)
  }
  try {
    await bucket.upload(path, name, checksum, moved)
  } catch (error) {
    const { message } = error as Error
    throw new StartupError(`the backup is in ${path}, but not in the bucket: ${message}`)
  }
  return { location: bucket.locationOf(name) }
}

/** For a backup whose upload failed. */
async function upload(config: Config, places: BackupPlaces, name: string, json: boolean) {
  if (!places.bucket) throw new StartupError('BACKUP_S3_BUCKET is not set')
  const path = resolve(name)
  const { about, checksum } = await verifyBackup(fileSource(path), passphraseOf(config))
  const copied = await copy(places, path, nameOf(about.backup_id), checksum, json)
  print({ backup_id: about.backup_id, checksum, ...copied, verified: true }, json)
}

async function verify(config: Config, places: BackupPlaces, name: string, json: boolean) {
  const passphrase = passphraseOf(config)
  const source = await places.find(name)
  const watch = watchProgress(config.BACKUP_TIMEOUT_SECONDS)
  watch.step(`reading ${source.name}`)
  try {
    const reading = verifyBackup(source, passphrase, watch.moved)
    const { about, ...counts } = await watch.guard(reading)
    const { backup_id, created_at, version } = about
    print({ file: source.name, backup_id, created_at, version, ...counts, verified: true }, json)
  } finally {
    watch.end()
  }
}
