import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import {
  folderOf,
  makeBackup,
  passphraseOf,
  ROOT_KEY,
  recordsOf,
  removeOldBackups,
  stampOf,
  verifyBackup,
} from '../backup/backup.ts'
import { load } from '../backup/load.ts'
import { type Config, readConfig } from '../config.ts'
import { requireMigrated } from '../database/migrate.ts'
import { failUnfinished, reportRun } from '../features/platform/backups/backups.repository.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const options = {
  json: { type: 'boolean', default: false },
  out: { type: 'string' },
  force: { type: 'boolean', default: false },
} as const

export async function backupCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const config = readConfig()
  const [verb, file] = positionals
  if (verb === undefined) return backup(config, values)
  if (verb !== 'verify' || file === undefined) throw new UsageError('backup takes verify FILE')
  const found = await verifyBackup(resolve(file), passphraseOf(config))
  print({ file, ...found, verified: true }, values.json)
}

/** Reports the run as it goes, so that one that dies is seen as well. */
async function backup(config: Config, values: { json: boolean; out?: string }): Promise<void> {
  passphraseOf(config)
  const at = new Date()
  const backup_id = stampOf(at)
  const path = resolve(values.out ?? join(folderOf(config), `mailplane-${backup_id}.backup`))
  const run = {
    backup_id,
    hostname: hostname(),
    backup_type: 'full' as const,
    target: 'database' as const,
    encrypted: true,
    storage_path: path,
  }
  const made = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    await failUnfinished(db, run.hostname, at)
    await reportRun(db, { ...run, status: 'running' }, at)
    try {
      const progress = progressOf(values.json)
      const result = await makeBackup({ sql, settings: config, path, at, progress })
      const { size_bytes, checksum } = result
      await reportRun(db, { ...run, status: 'completed', size_bytes, checksum }, new Date())
      return result
    } catch (error) {
      const error_message = error instanceof Error ? error.message : String(error)
      await reportRun(db, { ...run, status: 'failed', error_message }, new Date())
      throw error
    }
  })
  const removed = removeOldBackups(config, at)
  print({ backup_id, ...made, verified: true, removed: removed.length }, values.json)
}

export async function restoreCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [file] = positionals
  if (file === undefined) throw new UsageError('restore takes the FILE of a backup')
  const config = readConfig()
  const passphrase = passphraseOf(config)
  const path = resolve(file)
  // Before anything is thrown away: a damaged backup is worth nothing.
  await verifyBackup(path, passphrase)
  const restored = await withDatabase(
    ({ sql }) =>
      load(sql, recordsOf(path, passphrase), {
        force: values.force,
        files: (files) => putRootKey(config, files, values.force),
        progress: progressOf(values.json),
      }),
    { alone: true },
  )
  const { backup_id, created_at, version } = restored.about
  print({ backup_id, created_at, version, rows: restored.rows, restored: true }, values.json)
}

/** What is encrypted in the database can be read with the key it was encrypted with, and no other. */
function putRootKey(
  { DATA_DIR, SVC_SECRET_KEY }: Config,
  files: { name: string; text: string }[],
  force: boolean,
): void {
  const key = files.find(({ name }) => name === ROOT_KEY)?.text
  if (key === undefined) throw new StartupError('the backup holds no root key')
  if (SVC_SECRET_KEY !== undefined) {
    if (SVC_SECRET_KEY === key) return
    throw new StartupError(
      'SVC_SECRET_KEY is not the root key of this backup; unset it, or set that',
    )
  }
  const path = join(DATA_DIR, ROOT_KEY)
  const before = existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined
  if (before === key) return
  if (before !== undefined) {
    if (!force) throw new StartupError(`${path} is another root key; --force puts it aside`)
    writeFileSync(`${path}.before-restore`, before, { mode: 0o600, flush: true })
  }
  writeFileSync(path, key, { mode: 0o600, flush: true })
}

const progressOf = (isQuiet: boolean) => (table: string, rows: number) => {
  if (!isQuiet && rows > 0) process.stderr.write(`${table}: ${rows} rows\n`)
}
