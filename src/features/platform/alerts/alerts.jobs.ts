import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { deleteDone } from './delivery/delivery.repository.ts'

const RETENTION_MS = 30 * DAY_MS

/** Deletes finished notifications; the alert history stays. */
export const deleteOldNotifications: Job = {
  name: 'alerts.delete-old-notifications',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteDone(db, new Date(now().getTime() - RETENTION_MS)),
}
