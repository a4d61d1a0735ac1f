import {
  deleteOldQuarters,
  deleteOldReports,
  foldTraffic,
} from '../features/analytics/analytics.jobs.ts'
import { scheduleRunner } from '../features/analytics/reports/run-schedules.ts'
import { runChores } from '../jobs/chores.ts'
import { runJobs } from '../jobs/jobs.ts'
import { periodically } from '../lib/periodically.ts'
import type { Daemon } from './daemon.ts'

/** Adds up figures and sends the reports that are due. Any number of processes may. */
export const analytics: Daemon = {
  async start(core) {
    const jobs = runJobs(core, [deleteOldReports, deleteOldQuarters])
    const chores = await runChores(core, [foldTraffic])
    const runner = scheduleRunner(core)
    let reports = 0
    const looking = periodically(
      core.config.REPORT_SCHEDULER_INTERVAL_SECONDS * 1000,
      async () => {
        reports += await runner.runDue()
      },
      (error) => core.log.error({ err: error }, 'scheduled reports could not be looked for'),
    )
    return {
      features: [],
      metrics: () =>
        [
          '# HELP analytics_reports_total Scheduled reports that this process has run',
          '# TYPE analytics_reports_total counter',
          `analytics_reports_total ${reports}`,
        ].join('\n'),
      async stop() {
        runner.stop()
        await looking.stop()
        await runner.close()
        await chores.stop()
        await jobs.stop()
      },
    }
  },
}
