import { Registry } from 'prom-client'
import { startEngine } from '../features/migration/copy/engine.ts'
import { deliverNotices } from '../features/migration/notices/deliver.ts'
import { scrapedCounter, scrapedGauge } from '../lib/metrics.ts'
import type { Daemon } from './daemon.ts'

/** Copies mailboxes. Several processes share the jobs and take over those of a dead process. */
export const migration: Daemon = {
  async start(core) {
    // The community edition does not offer migrations.
    if (core.config.SVC_EDITION !== 'enterprise') return { features: [], stop: async () => {} }
    const engine = await startEngine(core)
    const notices = deliverNotices(core)
    const registry = new Registry()
    scrapedGauge(
      { registry, name: 'migration_jobs_running', help: 'Jobs that this process runs now' },
      () => engine.running(),
    )
    scrapedCounter(
      { registry, name: 'migration_jobs_run_total', help: 'Jobs that this process has run' },
      () => engine.counts.ended,
    )
    return {
      features: [],
      metrics: () => registry.metrics(),
      async stop() {
        await engine.stop()
        await notices.stop()
      },
    }
  },
}
