import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { record } from '../trail/trail.repository.ts'
import * as exports from './exports.repository.ts'
import { exportsFolder, removeSealed } from './sealed-file.ts'

const BATCH_SIZE = 100
/** A file that is still being written changes more often than this. */
const ABANDONED_MS = DAY_MS

/** Files are removed before the rows are committed: after a crash in between, the batch runs again. */
export const expireExports: Job = {
  name: 'compliance.expire-exports',
  everySeconds: 600,
  async run(core) {
    const { config, db, now } = core
    for (;;) {
      const expired = await db.transaction().execute(async (tx) => {
        const rows = await exports.expire(tx, now(), BATCH_SIZE)
        const names = rows.map(({ file_name }) => file_name)
        removeSealed(config.DATA_DIR, names)
        for (const { id: export_id, organization_id, user_email } of rows) {
          const action = 'data_export.expired'
          const details = { export_id }
          await record(tx, undefined, { action, organization_id, user_email, details }, now())
        }
        return rows
      })
      if (expired.length < BATCH_SIZE) break
    }
    await removeAbandoned(core)
  },
}

/** Removes files that a killed process left behind. */
async function removeAbandoned({ config, db }: Parameters<Job['run']>[0]): Promise<void> {
  const folder = exportsFolder(config.DATA_DIR)
  const old = namesIn(folder).filter((name) => {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? {}
    return mtimeMs !== undefined && mtimeMs < Date.now() - ABANDONED_MS
  })
  if (old.length === 0) return
  const referenced = await exports.referencedFiles(db, old)
  for (const name of old) if (!referenced.has(name)) rmSync(join(folder, name), { force: true })
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
