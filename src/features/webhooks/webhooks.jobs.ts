import type { Config } from '../../config.ts'
import type { Job } from '../../jobs/jobs.ts'
import { deleteDeliveries, deleteSentEvents } from './cleanup.repository.ts'

const HOUR_MS = 3_600_000

/** Old attempts, and events that nobody waits for any more, a batch at a time. */
export const deleteOldDeliveries = (config: Config): Job => ({
  name: 'webhooks.delete-old-deliveries',
  everySeconds: config.WEBHOOK_CLEANUP_SCHEDULE_HOURS * 3600,
  async run({ db, now }) {
    if (!config.WEBHOOK_CLEANUP_ENABLED) return
    const before = (hours: number) => new Date(now().getTime() - hours * HOUR_MS)
    const successes = before(config.WEBHOOK_SUCCESSFUL_RETENTION_HOURS)
    const failures = before(config.WEBHOOK_FAILED_RETENTION_HOURS)
    const batch = config.WEBHOOK_CLEANUP_BATCH_SIZE
    while ((await deleteDeliveries(db, successes, failures, batch)) === batch);
    while ((await deleteSentEvents(db, failures, batch)) === batch);
  },
})
