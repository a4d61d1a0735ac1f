import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import { deleteUsageBefore } from './rate-limiter.repository.ts'

const DAYS_90_MS = 90 * DAY_MS

export const deleteOldUsage: Job = {
  name: 'rate-limits.delete-old-usage',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteUsageBefore(db, new Date(now().getTime() - DAYS_90_MS)),
}
