import type { Job } from '../../jobs/jobs.ts'
import { cleanupService } from './cleanup/cleanup.service.ts'

/**
 * Old attempts, and events that nobody waits for any more. Looks every hour, because how often it
 * has to act can be changed while it runs.
 */
export const deleteOldDeliveries: Job = {
  name: 'webhooks.delete-old-deliveries',
  everySeconds: 3600,
  run: (core) => cleanupService(core).runIfDue(),
}
