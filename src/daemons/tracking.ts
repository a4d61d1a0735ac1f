import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { feedbackService } from '../features/tracking/feedback.service.ts'
import { injectService } from '../features/tracking/inject.service.ts'
import { internalRoutes } from '../features/tracking/internal.routes.ts'
import { publicService } from '../features/tracking/public.service.ts'
import { closeRecorder, recorderOf } from '../features/tracking/recorder.ts'
import type { Daemon } from './daemon.ts'

/** What other services tell about mail and its recipients. */
export const tracking: Daemon = {
  async start(core) {
    return {
      features: trackingFeatures(core),
      metrics: () => metricsOf(recorderOf(core)),
      stop: () => closeRecorder(core),
    }
  },
}

export const trackingFeatures = (core: Core): Feature[] => [
  {
    prefix: '',
    routes: internalRoutes({
      tracking: publicService(core),
      injecting: injectService(core),
      feedback: feedbackService(core),
    }),
  },
]

const metricsOf = ({ counts, waiting }: ReturnType<typeof recorderOf>) =>
  [
    '# HELP tracking_events_total Opens and clicks of this process, by what became of them',
    '# TYPE tracking_events_total counter',
    `tracking_events_total{outcome="recorded"} ${counts.recorded}`,
    `tracking_events_total{outcome="dropped"} ${counts.dropped}`,
    `tracking_events_total{outcome="unknown"} ${counts.unknown}`,
    '# TYPE tracking_events_waiting gauge',
    `tracking_events_waiting ${waiting}`,
  ].join('\n')
