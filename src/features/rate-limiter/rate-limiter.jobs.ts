import type { Job } from '../../jobs/jobs.ts'
import { deleteUsageBefore } from './rate-limiter.repository.ts'

const DAYS_90_MS = 90 * 24 * 60 * 60 * 1000

export const deleteOldUsage: Job = {
  name: 'rate-limits.delete-old-usage',
  everySeconds: 3600,
  run: ({ db, now }) => deleteUsageBefore(db, new Date(now().getTime() - DAYS_90_MS)),
}
