import { indexChore } from '../features/rag/indexing/run-job.ts'
import { deleteOldIndexJobs, scheduleIndexing } from '../features/rag/rag.jobs.ts'
import { runChores } from '../jobs/chores.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'

/** Reads and indexes mail; searches are answered by the API itself. */
export const rag: Daemon = {
  async start(core) {
    const stopping = new AbortController()
    const jobs = runJobs(core, [scheduleIndexing, deleteOldIndexJobs])
    const chores = await runChores(core, [indexChore(stopping.signal)])
    return {
      features: [],
      async stop() {
        stopping.abort()
        await chores.stop()
        await jobs.stop()
      },
    }
  },
}
