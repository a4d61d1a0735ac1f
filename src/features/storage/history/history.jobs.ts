import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { ENTITY_TYPES } from '../usage/kinds.ts'
import * as history from './history.repository.ts'

const MAILBOX_DAYS = 90
const OTHER_DAYS = 400

/** The figures of a day are those of its last run. */
export const keepHistory: Job = {
  name: 'storage.keep-history',
  everySeconds: HOUR_SECONDS,
  async run({ db, now }) {
    const day = now().toISOString().slice(0, 10)
    for (const type of ENTITY_TYPES) await history.storeDay(db, type, day)
  },
}

export const deleteOldHistory: Job = {
  name: 'storage.delete-old-history',
  everySeconds: 24 * HOUR_SECONDS,
  async run({ db, now }) {
    const before = (days: number) =>
      new Date(now().getTime() - days * DAY_MS).toISOString().slice(0, 10)
    await history.deleteBefore(db, ['mailbox'], before(MAILBOX_DAYS))
    await history.deleteBefore(db, ['domain', 'organization'], before(OTHER_DAYS))
  },
}
