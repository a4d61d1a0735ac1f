import { Registry } from 'prom-client'
import { autoconfigFeatures } from '../features/autoconfig/index.ts'
import { tlsRptService } from '../features/autoconfig/tls-rpt/tls-rpt.service.ts'
import { scrapedCounter } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Tells mail programs their settings and other mail hosts the TLS policies of hosted domains. */
export const autoconfig: Daemon = {
  async start(core) {
    const reports = tlsRptService(core)
    const registry = new Registry()
    scrapedCounter(
      {
        registry,
        name: 'autoconfig_tls_reports_total',
        help: 'TLS reports of other hosts about hosted domains, by outcome',
        label: 'outcome',
      },
      () => ({ ...reports.counts }),
    )
    return {
      features: autoconfigFeatures(core, reports),
      metrics: () => registry.metrics(),
      async stop() {},
    }
  },
}
