import { percent } from '../../../lib/percent.ts'
import { periodically } from '../../../lib/periodically.ts'
import { MigrationProgress } from '../migration.events.ts'
import { announce } from '../notices/announce.ts'
import * as progress from './progress.repository.ts'
import type { Run } from './run.ts'

const LOOK_MS = 1000

/** Updates the row of a running job and emits progress events. */
export function reportProgress(run: Run) {
  const { config, db, log } = run.core
  const begun = performance.now()
  const start = run.migrated
  let emittedAt = begun
  let emittedCount = -1

  const speed = () => {
    const seconds = (performance.now() - begun) / 1000
    return seconds > 0 ? Math.round(((run.migrated - start) / seconds) * 100) / 100 : 0
  }

  async function report(): Promise<void> {
    if (run.signal.aborted) return
    await db.transaction().execute(async (tx) => {
      const folder = run.currentFolder
      const change = { speed: speed(), ...(folder !== undefined && { folder }) }
      const counts = await progress.add(tx, run.lease, run.job.id, change)
      if (counts?.status !== 'running') return
      const done = counts.migrated_messages + counts.failed_messages
      const isDue = performance.now() - emittedAt >= config.MIGRATION_PROGRESS_SECONDS * 1000
      if (!isDue || done === emittedCount) return
      emittedAt = performance.now()
      emittedCount = done
      await announce(run.core, tx, run.job, MigrationProgress, {
        job_id: run.job.id,
        progress_percentage: percent(done, counts.total_messages),
        messages_migrated: counts.migrated_messages,
        messages_failed: counts.failed_messages,
        total_messages: counts.total_messages,
        current_folder: folder ?? '',
        speed_msgs_per_sec: change.speed,
      })
    })
  }

  return periodically(LOOK_MS, report, (error) =>
    log.warn({ err: error, job: run.job.id }, 'storing the progress of a migration job failed'),
  )
}
