import { type DayTable, makeDays } from '../../database/days.ts'
import type { Job } from '../../jobs/jobs.ts'
import { HOUR_SECONDS } from '../../lib/time.ts'

export const webhookDeliveries: DayTable = { name: 'webhook_deliveries', time: 'created_at' }

export const storedEvents: DayTable = { name: 'events', time: 'created_at' }

/** Makes the days to come, also while the clean-up is disabled. */
export const makeWebhookDays: Job = {
  name: 'webhooks.days',
  everySeconds: HOUR_SECONDS,
  async run({ db, now }) {
    await makeDays(db, storedEvents, now())
    await makeDays(db, webhookDeliveries, now())
  },
}
