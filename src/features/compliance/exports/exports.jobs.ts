import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { record } from '../trail/trail.repository.ts'
import { deleteAbandonedParts, deleteParts } from './export-parts.repository.ts'
import * as exports from './exports.repository.ts'

const BATCH_SIZE = 100
/** An attempt that still runs after this time has lost its lease long ago. */
const ABANDONED_MS = DAY_MS

export const expireExports: Job = {
  name: 'compliance.expire-exports',
  everySeconds: 600,
  async run({ db, now }) {
    for (;;) {
      const expired = await db.transaction().execute(async (tx) => {
        const rows = await exports.expire(tx, now(), BATCH_SIZE)
        await deleteParts(
          tx,
          rows.flatMap(({ file_name }) => file_name ?? []),
        )
        for (const { id: export_id, organization_id, user_email } of rows) {
          const action = 'data_export.expired'
          const details = { export_id }
          await record(tx, undefined, { action, organization_id, user_email, details }, now())
        }
        return rows
      })
      if (expired.length < BATCH_SIZE) break
    }
    await deleteAbandonedParts(db, new Date(Date.now() - ABANDONED_MS))
  },
}
