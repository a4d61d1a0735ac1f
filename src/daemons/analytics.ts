import { Counter, Registry } from 'prom-client'
import { scheduleRunner } from '../features/analytics/reports/run-schedules.ts'
import { periodically } from '../lib/periodically.ts'
import type { Daemon } from './daemon.ts'
import { runFeatureWork } from './feature-work.ts'

/** A receiver that hangs delays only reports of its own organization. */
const REPORTS_AT_ONCE = 4

/** Aggregates statistics and sends scheduled reports. Several processes may run it. */
export const analytics: Daemon = {
  async start(core) {
    const work = await runFeatureWork(core, 'analytics')
    const runner = scheduleRunner(core)
    const registry = new Registry()
    const reports = new Counter({
      name: 'analytics_reports_total',
      help: 'Scheduled reports that this process has run',
      registers: [registry],
    })
    const looking = Array.from({ length: REPORTS_AT_ONCE }, () =>
      periodically(
        core.config.REPORT_SCHEDULER_INTERVAL_SECONDS * 1000,
        async () => {
          reports.inc(await runner.runDue())
        },
        (error) => core.log.error({ err: error }, 'looking for scheduled reports failed'),
      ),
    )
    return {
      features: [],
      metrics: () => registry.metrics(),
      async stop() {
        runner.stop()
        await Promise.all(looking.map((one) => one.stop()))
        await runner.close()
        await work.stop()
      },
    }
  },
}
