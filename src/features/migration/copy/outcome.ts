import * as copied from './copied.repository.ts'
import * as progress from './progress.repository.ts'
import { type Run, Stopped } from './run.ts'

export interface FailedMessage {
  uid: number | undefined
  type: string
  detail: string
  messageId?: string
  retryable?: boolean
}

/**
 * Records copies and adds them to the counts of the job in one transaction. Copies of an earlier job are
 * recorded but not counted.
 */
export async function recordCopies(
  run: Run,
  folder: { id: number; source_path: string },
  copies: readonly copied.Copy[],
  counted = copies.length,
): Promise<void> {
  if (copies.length === 0) return
  const counts = await run.core.db.transaction().execute(async (tx) => {
    await copied.remember(tx, folder.id, copies)
    const change = { migrated: counted, folder: folder.source_path }
    return progress.add(tx, run.lease, run.job.id, change)
  })
  run.migrated += copies.length
  // The copies stay recorded even if the job was cancelled in the meantime.
  if (counts?.status !== 'running') throw new Stopped()
}

/** Records a failed message; counts it once. */
export const recordFailure = (run: Run, folder: string, failed: FailedMessage): Promise<void> =>
  run.core.db.transaction().execute(async (tx) => {
    const isNew = await progress.logFailure(tx, run.job.id, {
      folder,
      message_uid: failed.uid === undefined ? '' : String(failed.uid),
      message_id: progress.storable(failed.messageId ?? ''),
      error_type: failed.type,
      error_message: progress.storable(failed.detail),
      retryable: failed.retryable ?? true,
    })
    if (isNew) await progress.add(tx, run.lease, run.job.id, { failed: 1, folder })
  })
