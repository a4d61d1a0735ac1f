import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../../../jobs/jobs.ts'
import { record } from '../trail/trail.repository.ts'
import * as exports from './exports.repository.ts'
import { exportsFolder, removeSealed } from './sealed-file.ts'

const AT_ONCE = 100
/** Nobody writes to a file for so long without a byte. */
const ABANDONED_MS = 24 * 3600 * 1000

/** Files go before their rows say so: a kill in between only means that it is done again. */
export const expireExports: Job = {
  name: 'compliance.expire-exports',
  everySeconds: 600,
  async run(core) {
    const { config, db, now } = core
    for (;;) {
      const expired = await db.transaction().execute(async (tx) => {
        const rows = await exports.expire(tx, now(), AT_ONCE)
        const names = rows.map(({ file_name }) => file_name)
        removeSealed(config.DATA_DIR, names)
        for (const { id: export_id, organization_id, user_email } of rows) {
          const action = 'data_export.expired'
          const details = { export_id }
          await record(tx, undefined, { action, organization_id, user_email, details }, now())
        }
        return rows
      })
      if (expired.length < AT_ONCE) break
    }
    await removeAbandoned(core)
  },
}

/** What killed processes have left behind. */
async function removeAbandoned({ config, db }: Parameters<Job['run']>[0]): Promise<void> {
  const folder = exportsFolder(config.DATA_DIR)
  const old = namesIn(folder).filter((name) => {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {}
    return mtimeMs !== undefined && mtimeMs < Date.now() - ABANDONED_MS
  })
  if (old.length === 0) return
  const known = await exports.knownFiles(db, old)
  for (const name of old) if (!known.has(name)) rmSync(join(folder, name), { force: true })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
