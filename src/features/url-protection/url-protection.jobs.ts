import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import { deleteOlder } from './clicks/clicks.repository.ts'

const KEPT_MS = 30 * DAY_MS
const PORTION = 5000

export const forgetClicks: Job = {
  name: 'url-protection.forget-clicks',
  everySeconds: HOUR_SECONDS,
  async run({ db, now }) {
    const before = new Date(now().getTime() - KEPT_MS)
    while ((await deleteOlder(db, before, PORTION)) === PORTION);
  },
}
