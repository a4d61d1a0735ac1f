import type { Core } from '../../core.ts'
import type { Job } from '../../jobs/jobs.ts'
import { ulid } from '../../lib/ulid.ts'
import * as jobs from './indexing/jobs.repository.ts'
import { nextTime } from './settings/schedule.ts'
import { mailDomains } from './settings/settings.repository.ts'

const KEPT_DAYS = 30

/** Makes index jobs for those whose schedule says so. */
export const scheduleIndexing: Job = {
  name: 'rag.schedule',
  everySeconds: 20,
  run: ({ db, now }: Core) =>
    db.transaction().execute(async (tx) => {
      for (const { organization_id, index_schedule } of await jobs.takeDue(tx)) {
        for (const { id } of await mailDomains(tx, organization_id)) {
          const job = { id: ulid(), organization_id, domain_id: id, full_reindex: false }
          await jobs.insert(tx, job)
        }
        const next = nextTime(index_schedule, now())
        await jobs.setNextRun(tx, organization_id, next?.toISOString() ?? null)
      }
    }),
}

export const deleteOldIndexJobs: Job = {
  name: 'rag.delete-old-jobs',
  everySeconds: 3600,
  run: ({ db }) => jobs.deleteOld(db, KEPT_DAYS),
}
