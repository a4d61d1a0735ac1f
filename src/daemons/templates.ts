import { Registry } from 'prom-client'
import { templateFeatures } from '../features/templates/index.ts'
import { closeRenderCounts, renderCountsOf } from '../features/templates/render-counts.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Renders templates of mail for other services. */
export const templates: Daemon = {
  async start(core) {
    const counts = renderCountsOf(core)
    const registry = new Registry()
    scrapedCounter(
      {
        registry,
        name: 'templates_renders_total',
        help: 'Renders of this process, by outcome: rendered or refused',
        label: 'outcome',
      },
      () => ({ ...counts.totals }),
    )
    scrapedGauge(
      {
        registry,
        name: 'templates_renders_waiting',
        help: 'Renders whose count is not stored yet',
      },
      () => counts.waiting,
    )
    return {
      features: templateFeatures(core),
      metrics: () => registry.metrics(),
      stop: () => closeRenderCounts(core),
    }
  },
}
