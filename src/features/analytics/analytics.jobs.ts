import type { Chore } from '../../jobs/chores.ts'
import type { Job } from '../../jobs/jobs.ts'
import { deleteBefore } from './reports/reports.repository.ts'
import { KEPT_MS } from './reports/reports.service.ts'
import * as traffic from './traffic.repository.ts'

const AT_ONCE = 20_000
const HOUR_SECONDS = 3600
const DAY_MS = 24 * HOUR_SECONDS * 1000
const QUARTERS_KEPT_MS = 400 * DAY_MS

/** Adds up what was counted since the last time. Readers need not wait for it; they only get slower. */
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
