import { declareEvents } from '../features/index.ts'
import { runChores } from '../jobs/chores.ts'
import { housekeeping } from '../jobs/housekeeping.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'
import { followEdge } from './edge-follower.ts'
import { useFeatures } from './features-of-process.ts'

/** Runs the jobs and chores of every feature and keeps the mail servers up to date. Several may run. */
export const worker: Daemon = {
  async start(core) {
    await declareEvents()
    const { features, release } = await useFeatures(core)
    const jobs = runJobs(core, [...housekeeping, ...features.flatMap(({ jobs = [] }) => jobs)])
    const edge = await followEdge(core)
    const chores = await runChores(
      core,
      features.flatMap(({ chores = [] }) => chores),
    )
    return {
      features: [],
      async stop() {
        await chores.stop()
        await edge.stop()
        await jobs.stop()
        await release()
      },
    }
  },
}
