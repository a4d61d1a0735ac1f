import { Registry } from 'prom-client'
import { checkerOf, closeChecker } from '../features/url-protection/checking/checker.ts'
import { safeRoutes } from '../features/url-protection/clicks/safe.routes.ts'
import { safeService } from '../features/url-protection/clicks/safe.service.ts'
import { internalRoutes } from '../features/url-protection/management/internal.routes.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Checks links of delivered mail when people click them. */
export const urlProtection: Daemon = {
  async start(core) {
    const checker = await checkerOf(core)
    const safe = safeService(core, checker)
    const registry = new Registry()
    scrapedCounter(
      {
        registry,
        name: 'url_protection_clicks_total',
        help: 'Clicks by verdict; unknown: no valid link, automated: programs that look at links',
        label: 'verdict',
      },
      () => ({ ...safe.counts }),
    )
    scrapedGauge(
      { registry, name: 'url_protection_feed_entries', help: 'Hosts and addresses of feed files' },
      () => checker.feeds.entries,
    )
    scrapedGauge(
      { registry, name: 'url_protection_clicks_waiting', help: 'Clicks not yet stored' },
      () => safe.recorder.waiting,
    )
    return {
      features: [
        { prefix: '', routes: safeRoutes(safe, core) },
        { prefix: '', routes: internalRoutes(core) },
      ],
      metrics: () => registry.metrics(),
      async stop() {
        await safe.stop()
        await closeChecker(core)
      },
    }
  },
}
