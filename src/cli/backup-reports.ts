import { hostname } from 'node:os'
import { parseArgs } from 'node:util'
import { requireMigrated } from '../database/migrate.ts'
import { removeHost, reportRun } from '../features/platform/backups/backups.repository.ts'
import { StartupError } from '../startup-error.ts'
import { print } from './output.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

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
export async function reportCommand(args: string[]): Promise<void> {
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

export async function forgetHost(name: string, json: boolean): Promise<void> {
  const removed_runs = await withDatabase(async ({ db, sql }) => {
    await requireMigrated(sql)
    return removeHost(db, name)
  })
  if (removed_runs === 0) throw new StartupError(`no backup of ${name} was reported`)
  print({ hostname: name, removed_runs }, json)
}
