import type { Core } from '../../../core.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { Damaged } from '../sealing/sealed-message.ts'
import type { Storages } from '../storage/storage.ts'
import { sample } from '../store/archive.repository.ts'
import { Gone, readArchive } from '../store/read-archive.ts'
import * as checks from './checks.repository.ts'
import { removeBefore } from './jobs.repository.ts'

const EVERY_MS = 7 * DAY_MS
const KEPT_MS = 365 * DAY_MS
const JOBS_KEPT_MS = 90 * DAY_MS

/**
 * Reads a sample of the archive back each week and compares it with its hashes. A run that was interrupted
 * does not count, and is begun again within the hour.
 */
export const readBack = (storages: Storages, stopping: AbortSignal): Job => ({
  name: 'archive.read-back',
  everySeconds: HOUR_SECONDS,
  async run(core) {
    const { db, now } = core
    await removeBefore(db, new Date(now().getTime() - JOBS_KEPT_MS))
    if (storages.current === undefined) return
    const last = await checks.latest(db)
    const isFresh =
      last?.finished_at != null && now().getTime() - new Date(last.finished_at).getTime() < EVERY_MS
    if (!isFresh) await checkSample(core, storages, stopping)
  },
})

export async function checkSample(core: Core, storages: Storages, stopping?: AbortSignal) {
  const { config, db, log, now } = core
  const reader = readArchive(core, storages)
  await checks.removeBefore(db, new Date(now().getTime() - KEPT_MS))
  const id = ulid()
  await checks.begin(db, id, now())
  for (const row of await sample(db, config.ARCHIVE_CHECK_SAMPLE)) {
    if (stopping?.aborted) return
    try {
      await reader.read(row)
      await checks.add(db, id, 0)
    } catch (error) {
      if (error instanceof Gone) continue
      if (!(error instanceof Damaged)) throw error
      const { id: archive_id, storage_key } = row
      log.error({ err: error, archive_id, storage_key, alert: true }, 'archived message damaged')
      await checks.add(db, id, 1)
    }
  }
  await checks.finish(db, id, now())
}
