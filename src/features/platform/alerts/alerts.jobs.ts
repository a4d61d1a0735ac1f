import type { Job } from '../../../jobs/jobs.ts'
import { deleteDone } from './delivery/delivery.repository.ts'

const KEPT_MS = 30 * 24 * 3600_000

/** The history stays; who was told of it is not needed for ever. */
export const deleteOldNotifications: Job = {
  name: 'alerts.delete-old-notifications',
  everySeconds: 3600,
  run: ({ db, now }) => deleteDone(db, new Date(now().getTime() - KEPT_MS)),
}
