import type { Config } from '../../config/index.ts'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS, MINUTE_SECONDS } from '../../lib/time.ts'
import { checkListings } from './check-listings.ts'
import * as feedback from './feedback.repository.ts'
import * as ips from './ips.repository.ts'
import { scoreDomains } from './score-domains.ts'
import * as scores from './scores.repository.ts'

const HOURS_KEPT_MS = 31 * DAY_MS
const DAYS_KEPT_MS = 400 * DAY_MS
const UNSEEN_MS = 90 * DAY_MS

export const scoreHoursAndDays: Job = {
  name: 'reputation.score-hours-and-days',
  everySeconds: 5 * MINUTE_SECONDS,
  async run(core) {
    await scoreDomains(core, 'HOURLY')
    await scoreDomains(core, 'DAILY')
  },
}

export const scoreWeeksAndMonths: Job = {
  name: 'reputation.score-weeks-and-months',
  everySeconds: HOUR_SECONDS,
  async run(core) {
    await scoreDomains(core, 'WEEKLY')
    await scoreDomains(core, 'MONTHLY')
  },
}

export const lookUpListings = ({ RBL_CHECK_SECONDS }: Pick<Config, 'RBL_CHECK_SECONDS'>): Job => ({
  name: 'reputation.look-up-listings',
  everySeconds: RBL_CHECK_SECONDS,
  run: checkListings,
})

export const forgetReputation: Job = {
  name: 'reputation.forget',
  everySeconds: HOUR_SECONDS,
  async run({ config, db, now }) {
    const ago = (ms: number) => new Date(now().getTime() - ms)
    await scores.deleteBefore(db, 'HOURLY', ago(HOURS_KEPT_MS))
    await scores.deleteBefore(db, 'DAILY', ago(DAYS_KEPT_MS))
    await ips.deleteUnseen(db, ago(UNSEEN_MS), now())
    // The same retention as the other data about recipients.
    await feedback.deleteBefore(db, ago(config.TRACKING_DATA_RETENTION_DAYS * DAY_MS))
  },
}
