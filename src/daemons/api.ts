import { apiFeatures, declareEvents, offeredIn } from '../features/index.ts'
import { runChores } from '../jobs/chores.ts'
import { housekeeping } from '../jobs/housekeeping.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'
import { followEdge } from './edge-follower.ts'
import { restartsOf } from './restarts.ts'

/** Serves the routes of every feature and runs their jobs and chores. */
export const api: Daemon = {
  async start(core) {
    await declareEvents()
    const features = await apiFeatures(core, restartsOf(core))
    const jobs = runJobs(core, [...housekeeping, ...features.flatMap(({ jobs = [] }) => jobs)])
    const edge = await followEdge(core)
    const chores = await runChores(
      core,
      features.flatMap(({ chores = [] }) => chores),
    )
    return {
      features: offeredIn(core.config.SVC_EDITION, features),
      async stop() {
        await chores.stop()
        await edge.stop()
        await jobs.stop()
        for (const { close } of features) await close?.()
      },
    }
  },
}
