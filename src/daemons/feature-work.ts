import type { Core } from '../core.ts'
import { type WorkingService, workOf } from '../features/index.ts'
import { runChores } from '../jobs/chores.ts'
import { runJobs } from '../jobs/jobs.ts'

/** Runs the jobs and chores that the features hand over to this service. */
export async function runFeatureWork(core: Core, service: WorkingService) {
  const stopping = new AbortController()
  const work = await workOf(service, core, stopping.signal)
  const jobs = runJobs(core, work.jobs)
  const chores = work.chores.length > 0 ? await runChores(core, work.chores) : undefined
  return {
    async stop(): Promise<void> {
      stopping.abort()
      await chores?.stop()
      await jobs.stop()
    },
  }
}
