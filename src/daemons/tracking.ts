import { Registry } from 'prom-client'
import type { Core } from '../core.ts'
import type { Feature } from '../features/feature.ts'
import { feedbackService } from '../features/tracking/feedback/feedback.service.ts'
import { injectService } from '../features/tracking/injector/inject.service.ts'
import { internalRoutes } from '../features/tracking/internal.routes.ts'
import { publicService } from '../features/tracking/recipients/public.service.ts'
import { closeRecorder, recorderOf } from '../features/tracking/recipients/recorder.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Receives reports of other services about mail and its recipients. */
export const tracking: Daemon = {
  async start(core) {
    const registry = trackingRegistry(recorderOf(core))
    return {
      features: trackingFeatures(core),
      metrics: () => registry.metrics(),
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

function trackingRegistry(recorder: ReturnType<typeof recorderOf>): Registry {
  const registry = new Registry()
  scrapedCounter(
    {
      registry,
      name: 'tracking_events_total',
      help: 'Opens and clicks that this process has seen, by outcome',
      label: 'outcome',
    },
    () => ({ ...recorder.counts }),
  )
  scrapedGauge(
    { registry, name: 'tracking_events_waiting', help: 'Opens and clicks not yet stored' },
    () => recorder.waiting,
  )
  return registry
}
