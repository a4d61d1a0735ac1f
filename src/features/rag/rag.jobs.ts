import type { Core } from '../../core.ts'
import type { Job } from '../../jobs/jobs.ts'
import { HOUR_SECONDS } from '../../lib/time.ts'
import { ulid } from '../../lib/ulid.ts'
import * as jobs from './indexing/jobs.repository.ts'
import { nextTime } from './settings/schedule.ts'
import { mailDomains } from './settings/settings.repository.ts'

const RETENTION_DAYS = 30

/** Creates index jobs for organizations whose schedule is due. */
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
  everySeconds: HOUR_SECONDS,
  run: ({ db }) => jobs.deleteOld(db, RETENTION_DAYS),
}
