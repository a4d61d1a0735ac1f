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
 * Writes down what was copied, and counts it; together, or not at all. What an earlier job had copied
 * is written down only.
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
    return progress.add(tx, run.daemon, run.job.id, change)
  })
  run.migrated += copies.length
  // What has arrived stays known also when the job was cancelled meanwhile.
  if (counts?.status !== 'running') throw new Stopped()
}

/** A message that stays behind: logged once, counted once. */
export const recordFailure = (run: Run, folder: string, failed: FailedMessage): Promise<void> =>
  run.core.db.transaction().execute(async (tx) => {
    const isNew = await progress.logFailure(tx, run.job.id, {
      folder,
      message_uid: failed.uid === undefined ? '' : String(failed.uid),
      message_id: storable(failed.messageId ?? ''),
      error_type: failed.type,
      error_message: storable(failed.detail),
      retryable: failed.retryable ?? true,
    })
    if (isNew) await progress.add(tx, run.daemon, run.job.id, { failed: 1, folder })
  })

/** What servers say may be anything; the database takes no NUL. */
const storable = (text: string) => text.replaceAll('\0', '').slice(0, 1000)
