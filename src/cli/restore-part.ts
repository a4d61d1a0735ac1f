import { passphraseOf, ROOT_KEY, recordsOf, type Source, verifyBackup } from '../backup/backup.ts'
import { load } from '../backup/load.ts'
import { type Part, type RestoredTable, restorePart } from '../backup/partial.ts'
import { withScratch } from '../backup/scratch.ts'
import { watchProgress } from '../backup/watch.ts'
import type { Config } from '../config/index.ts'
import { keptSecret } from '../database/data-dir.ts'
import { requireMigrated } from '../database/migrate.ts'
import { recordRestore } from '../features/platform/backups/backups.command.ts'
import { StartupError } from '../startup-error.ts'
import { print, tableProgress } from './output.ts'
import { deadline, withDatabase } from './with-database.ts'

interface Options {
  part: Part
  reason: string
  replace: boolean
  dryRun: boolean
  json: boolean
}

/** Undoes the transaction of a dry run. */
class DryRun extends Error {}

/** Restores one organization or one mailbox into the running installation. */
export async function restorePartCommand(config: Config, source: Source, options: Options) {
  const { part, reason, replace, dryRun, json } = options
  const passphrase = passphraseOf(config)
  const soon = deadline(config)
  const show = tableProgress(json)
  const watch = watchProgress(config.BACKUP_TIMEOUT_SECONDS)
  try {
    watch.step(`reading ${source.name}`)
    await watch.guard(verifyBackup(source, passphrase, watch.moved))
    const restored = await withDatabase(async ({ db, sql }) => {
      await soon(requireMigrated(sql))
      return withScratch(config, async (scratch) => {
        watch.step(`restoring ${source.name} into a database of its own`)
        const loading = load(scratch.sql, recordsOf(source, passphrase, watch.moved), {
          force: true,
          files: (files) => requireSameKey(config, files),
          migrating: watch.without,
          progress: watch.moved,
        })
        const { about } = await watch.guard(loading)
        let done: { organizationId: string; tables: RestoredTable[] } | undefined
        watch.step('writing to the database, where a row may be locked')
        const writing = db
          .transaction()
          .execute(async (tx) => {
            const progress = (table: string, rows: number) => {
              watch.moved()
              show(table, rows)
            }
            done = await restorePart({ from: scratch.db, into: tx, part, replace, progress })
            if (dryRun) throw new DryRun()
            await recordRestore(tx, {
              part: part.kind,
              target: part.kind === 'mailbox' ? part.email : part.id,
              organizationId: done.organizationId,
              backupId: about.backup_id,
              replace,
              reason,
            })
          })
          .catch((error) => {
            if (!(error instanceof DryRun)) throw error
          })
        await watch.guard(writing)
        return { about, tables: done?.tables ?? [] }
      })
    })
    const { backup_id, created_at } = restored.about
    const tables = restored.tables.filter(({ in_backup }) => in_backup > 0)
    if (json) print({ backup_id, created_at, restored: !dryRun, tables }, true)
    else {
      print({ backup_id, created_at, restored: !dryRun }, false)
      print(
        tables.map((table) => ({ ...table })),
        false,
      )
    }
  } finally {
    watch.end()
  }
}

/** Secrets of the backup are sealed with its root key, which must be the one of this installation. */
function requireSameKey(config: Config, files: { name: string; text: string }[]): void {
  const own = config.SVC_SECRET_KEY ?? keptSecret(config.DATA_DIR, ROOT_KEY)
  if (files.find(({ name }) => name === ROOT_KEY)?.text === own) return
  throw new StartupError(
    'the backup has another root key than this installation; restore it as a whole elsewhere',
  )
}
