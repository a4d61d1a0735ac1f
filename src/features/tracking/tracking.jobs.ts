import type { Core } from '../../core.ts'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import * as tracked from './tracked.repository.ts'
import * as events from './tracking-events.repository.ts'

const PORTION = 5000

/** Deletes expired tracking data. Links in messages of that age stop working. */
export const forgetTracking: Job = {
  name: 'tracking.forget',
  everySeconds: HOUR_SECONDS,
  async run({ config, db, now }: Core) {
    const before = (days: number) => new Date(now().getTime() - days * DAY_MS)
    const kept = before(config.TRACKING_DATA_RETENTION_DAYS)
    await inPortions(() => events.deleteOlder(db, kept, PORTION))
    await inPortions(() => tracked.deleteOlder(db, kept, PORTION))
    const addresses = before(config.TRACKING_IP_RETENTION_DAYS)
    await inPortions(() => events.forgetAddresses(db, addresses, PORTION))
  },
}

async function inPortions(work: () => Promise<number>): Promise<void> {
  while ((await work()) === PORTION);
}
