import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { passphraseOf, ROOT_KEY, recordsOf, verifyBackup } from '../backup/backup.ts'
import { load } from '../backup/load.ts'
import type { Part } from '../backup/partial.ts'
import { watchProgress } from '../backup/watch.ts'
import { type Config, readConfig } from '../config/index.ts'
import { prepareDataDir } from '../database/data-dir.ts'
import { StartupError } from '../startup-error.ts'
import { backupPlaces } from './backup-places.ts'
import { print, tableProgress } from './output.ts'
import { restorePartCommand } from './restore-part.ts'
import { UsageError } from './usage.ts'
import { withDatabase } from './with-database.ts'

const options = {
  json: { type: 'boolean', default: false },
  force: { type: 'boolean', default: false },
  organization: { type: 'string' },
  mailbox: { type: 'string' },
  replace: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  reason: { type: 'string' },
} as const

/** Replaces the whole installation by a backup, or brings back one organization or mailbox. */
export async function restoreCommand(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
  const [file] = positionals
  const part = partOf(values)
  if (file === undefined)
    throw new UsageError('restore takes the FILE of a backup, its s3:// location, or latest')
  const config = readConfig()
  const passphrase = passphraseOf(config)
  prepareDataDir(config.DATA_DIR)
  const places = backupPlaces(config)
  const source = await places.find(file)
  if (part) {
    const { replace, reason = '', json } = values
    const options = { part, reason, replace, dryRun: values['dry-run'], json }
    return await restorePartCommand(config, source, options).finally(places.close)
  }
  const watch = watchProgress(config.BACKUP_TIMEOUT_SECONDS)
  try {
    // Verify before any data is deleted.
    watch.step(`reading ${source.name}`)
    await watch.guard(verifyBackup(source, passphrase, watch.moved))
    watch.step('writing to the database')
    const show = tableProgress(values.json)
    const restored = await withDatabase(
      ({ sql }) =>
        watch.guard(
          load(sql, recordsOf(source, passphrase, watch.moved), {
            force: values.force,
            files: (files) => putRootKey(config, files, values.force),
            migrating: watch.without,
            progress: (table, rows) => {
              watch.moved()
              show(table, rows)
            },
          }),
        ),
      { alone: true },
    )
    const { backup_id, created_at, version } = restored.about
    print({ backup_id, created_at, version, rows: restored.rows, restored: true }, values.json)
  } finally {
    watch.end()
    places.close()
  }
}

interface PartValues {
  organization?: string
  mailbox?: string
  reason?: string
  'dry-run': boolean
}

function partOf({ organization, mailbox, reason, ...values }: PartValues): Part | undefined {
  if (organization === undefined && mailbox === undefined) return undefined
  if (organization !== undefined && mailbox !== undefined) {
    throw new UsageError('restore takes --organization or --mailbox')
  }
  if (!reason?.trim() && !values['dry-run']) throw new UsageError('--reason is missing')
  return organization === undefined
    ? { kind: 'mailbox', email: mailbox ?? '' }
    : { kind: 'organization', id: organization }
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
  // Renamed, so that a process killed here leaves no half of a key.
  writeFileSync(`${path}.new`, key, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}
