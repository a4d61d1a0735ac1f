import type { Job } from '../../jobs/jobs.ts'
import { HOUR_SECONDS } from '../../lib/time.ts'
import { cleanupService } from './cleanup/cleanup.service.ts'

/** Runs every hour and checks the interval itself, because that can be changed at runtime. */
export const deleteOldDeliveries: Job = {
  name: 'webhooks.delete-old-deliveries',
  everySeconds: HOUR_SECONDS,
  run: (core) => cleanupService(core).runIfDue(),
}
