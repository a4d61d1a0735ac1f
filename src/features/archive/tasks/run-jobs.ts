import type { Core } from '../../../core.ts'
import type { Chore } from '../../../jobs/chores.ts'
import { LeaseLost, newLease, underLease } from '../../../jobs/lease.ts'
import type { Storages } from '../storage/storage.ts'
import { SpoolFull } from '../store/keep-mail.ts'
import { importMailbox } from './import-mailbox.ts'
import { JobFailed, type JobWork, type Report } from './job-work.ts'
import * as jobs from './jobs.repository.ts'
import { sealAnew } from './seal-anew.ts'

const LEASE_SECONDS = 60
const PAUSE_SECONDS = 5
/** For an import without room: a storage that is away does not come back at once. */
const FULL_PAUSE_SECONDS = 180

/** Runs the jobs of the archive, for each organization one at a time in each process. */
export const runArchiveJobs = (storages: Storages, stopping: AbortSignal): Chore => ({
  name: 'archive-jobs',
  atOnce: 3,
  async round(core) {
    if (stopping.aborted || storages.current === undefined) return false
    const lease = newLease(LEASE_SECONDS)
    const job = await jobs.claim(core.db, lease)
    if (!job) return false
    await underLease(core, 'archive_jobs', { id: job.id }, lease, async (lost) => {
      const report: Report = async (more) => {
        if (!(await jobs.progress(core.db, job.id, lease, more))) throw new LeaseLost()
      }
      const work = { job, report, signal: AbortSignal.any([stopping, lost]) }
      try {
        await run(core, storages, work)
        await jobs.finish(core.db, job.id, lease, null, core.now())
      } catch (error) {
        const text = (error as Error).message
        if (error instanceof JobFailed) {
          await jobs.finish(core.db, job.id, lease, text, core.now())
          return
        }
        const pauseSeconds = stopping.aborted ? 0 : pauseAfter(error)
        await jobs.interrupt(core.db, job.id, lease, { error: text, pauseSeconds })
        core.log.warn({ err: error, job: job.id }, 'job of the archive interrupted, will resume')
      }
    })
    return true
  },
})

const pauseAfter = (error: unknown): number =>
  error instanceof SpoolFull ? FULL_PAUSE_SECONDS : PAUSE_SECONDS

const run = (core: Core, storages: Storages, work: JobWork): Promise<void> =>
  work.job.kind === 'import' ? importMailbox(core, work) : sealAnew(core, storages, work)
