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
import { type Config, readConfig } from '../config/index.ts'
import { requireMigrated } from '../database/migrate.ts'
import {
  failUnfinished,
  removeHost,
  reportRun,
} from '../features/platform/backups/backups.repository.ts'
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
  if (args[0] === 'report') return reportCommand(args.slice(1))
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const config = readConfig()
  const [verb, file] = positionals
  if (verb === undefined) return backup(config, values)
  if (verb === 'forget-host' && file !== undefined) return forgetHost(file, values.json)
  if (verb !== 'verify' || file === undefined) {
    throw new UsageError('backup takes verify FILE, report or forget-host NAME')
  }
  const counts = await verifyBackup(resolve(file), passphraseOf(config))
  print({ file, ...counts, verified: true }, values.json)
}

/** Records the run before it begins, so that a run that was killed is visible too. */
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

const reportOptions = {
  json: { type: 'boolean', default: false },
  host: { type: 'string' },
  target: { type: 'string', default: 'all' },
  size: { type: 'string' },
  path: { type: 'string' },
  unencrypted: { type: 'boolean', default: false },
  error: { type: 'string' },
} as const

/** For scripts that back up mail or configuration with other tools. */
async function reportCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: reportOptions,
    allowPositionals: true,
  })
  const [backup_id, status] = positionals
  const { target, size = '0' } = values
  if (backup_id === undefined || backup_id.length > 32) {
    throw new UsageError('backup report takes a BACKUP_ID of at most 32 characters')
  }
  if (status !== 'running' && status !== 'completed' && status !== 'failed') {
    throw new UsageError('the status must be running, completed or failed')
  }
  if (!['database', 'mail', 'config', 'all'].includes(target)) {
    throw new UsageError('--target must be database, mail, config or all')
  }
  if (!/^\d{1,15}$/.test(size)) throw new UsageError('--size must be a number of bytes')
  const report = {
    backup_id,
    hostname: values.host ?? hostname(),
    backup_type: 'full',
    target,
    status,
    size_bytes: Number(size),
    storage_path: values.path ?? null,
    encrypted: !values.unencrypted,
    error_message: values.error ?? null,
  } as const
  const recorded = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return reportRun(db, report, new Date())
  })
  print({ ...recorded, hostname: report.hostname, status }, values.json)
}

async function forgetHost(name: string, json: boolean): Promise<void> {
  const removed_runs = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return removeHost(db, name)
  })
  if (removed_runs === 0) throw new StartupError(`no backup of ${name} was reported`)
  print({ hostname: name, removed_runs }, json)
}

export async function restoreCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [file] = positionals
  if (file === undefined) throw new UsageError('restore takes the FILE of a backup')
  const config = readConfig()
  const passphrase = passphraseOf(config)
  const path = resolve(file)
  // Verify before any data is deleted.
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

/** The secrets in the database can only be decrypted with the root key of the backup. */
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
      'SVC_SECRET_KEY is not the root key of this backup; unset it, or set it to that key',
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
