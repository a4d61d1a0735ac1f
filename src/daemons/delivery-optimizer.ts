import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { feedbackLoopService } from '../features/reputation/optimizer/feedback-loop.service.ts'
import { deleteOldCounts, tellWarmUp } from '../features/reputation/optimizer/optimizer.jobs.ts'
import { optimizerRoutes } from '../features/reputation/optimizer/optimizer.routes.ts'
import { pacingService } from '../features/reputation/optimizer/pacing.service.ts'
import { warmingService } from '../features/reputation/optimizer/warming.service.ts'
import {
  forgetReputation,
  lookUpListings,
  scoreHoursAndDays,
  scoreWeeksAndMonths,
} from '../features/reputation/reputation.jobs.ts'
import { feedbackService } from '../features/tracking/feedback.service.ts'
import { runJobs } from '../jobs/jobs.ts'
import type { Daemon } from './daemon.ts'

/** Says how fast mail may go where, hears of complaints, and keeps scores. Any number may run. */
export const deliveryOptimizer: Daemon = {
  async start(core) {
    const jobs = runJobs(core, [
      scoreHoursAndDays,
      scoreWeeksAndMonths,
      lookUpListings(core.config),
      forgetReputation,
      tellWarmUp,
      deleteOldCounts,
    ])
    return { features: optimizerFeatures(core), stop: jobs.stop }
  },
}

export const optimizerFeatures = (core: Core): Feature[] => [
  {
    prefix: '',
    routes: optimizerRoutes({
      pacing: pacingService(core),
      warming: warmingService(core),
      feedback: feedbackLoopService({ ...core, tracking: feedbackService(core) }),
    }),
  },
]
