import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { feedbackLoopService } from '../features/reputation/optimizer/feedback-loop.service.ts'
import { optimizerRoutes } from '../features/reputation/optimizer/optimizer.routes.ts'
import { pacingService } from '../features/reputation/optimizer/pacing.service.ts'
import { warmingService } from '../features/reputation/optimizer/warming.service.ts'
import { feedbackService } from '../features/tracking/feedback/feedback.service.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

/** Paces outbound mail, records complaints and computes reputation scores. Several may run. */
export const deliveryOptimizer: Daemon = {
  async start(core) {
    const work = await runFeatureWork(core, 'delivery_optimizer')
    return { features: optimizerFeatures(core), stop: work.stop }
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
