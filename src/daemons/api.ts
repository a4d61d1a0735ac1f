import { declareEvents, offeredIn } from '../features/index.ts'
import type { Daemon } from './daemon.ts'
import { useFeatures } from './features-of-process.ts'

/** Serves the routes of every feature. Their jobs and chores run in the worker. */
export const api: Daemon = {
  async start(core) {
    await declareEvents()
    const { features, release } = await useFeatures(core)
    return { features: offeredIn(core.config.SVC_EDITION, features), stop: release }
  },
}
