import type { Core } from '../../core.ts'
import { type DayTable, dropDays, makeDays } from '../../database/days.ts'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import * as tracked from './tracked.repository.ts'
import * as events from './tracking-events.repository.ts'

const PORTION = 5000

export const trackingEvents: DayTable = { name: 'tracking_events', time: 'created_at' }

export const makeTrackingDays = ({ db, now }: Pick<Core, 'db' | 'now'>) =>
  makeDays(db, trackingEvents, now())

/**
 * Makes the days to come, drops those that have expired, and deletes other tracking data of that age.
 * Links in messages of that age stop working.
 */
export const forgetTracking: Job = {
  name: 'tracking.forget',
  everySeconds: HOUR_SECONDS,
  async run(core: Core) {
    const { config, db, now } = core
    await makeTrackingDays(core)
    const before = (days: number) => new Date(now().getTime() - days * DAY_MS)
    const kept = before(config.TRACKING_DATA_RETENTION_DAYS)
    await dropDays(db, trackingEvents, { before: kept })
    await inPortions(() => tracked.deleteOlder(db, kept, PORTION))
    const addresses = before(config.TRACKING_IP_RETENTION_DAYS)
    await inPortions(() => events.forgetAddresses(db, addresses, PORTION))
  },
}

async function inPortions(work: () => Promise<number>): Promise<void> {
  while ((await work()) === PORTION);
}
