import type { Chore } from '../../jobs/chores.ts'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import { deleteBefore } from './reports/reports.repository.ts'
import { KEPT_MS } from './reports/reports.service.ts'
import * as traffic from './traffic.repository.ts'

const AT_ONCE = 20_000
const QUARTERS_KEPT_MS = 400 * DAY_MS

/** Rolls up the rows since the last run. Queries are correct without it, only slower. */
export const foldTraffic: Chore = {
  name: 'traffic',
  round: async ({ db }) => (await traffic.fold(db, AT_ONCE)) === AT_ONCE,
}

export const deleteOldReports: Job = {
  name: 'analytics.delete-old-reports',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteBefore(db, new Date(now().getTime() - KEPT_MS)),
}

export const deleteOldQuarters: Job = {
  name: 'analytics.delete-old-quarters',
  everySeconds: 24 * HOUR_SECONDS,
  run: ({ db, now }) =>
    traffic.deleteQuartersBefore(db, new Date(now().getTime() - QUARTERS_KEPT_MS)),
}
