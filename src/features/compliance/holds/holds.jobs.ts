import type { Job } from '../../../jobs/jobs.ts'
import * as holds from './holds.repository.ts'
import { releaseHold } from './holds.service.ts'

/** Releases the holds whose end date has passed, like an operator would. */
export const releaseEndedHolds: Job = {
  name: 'compliance.release-ended-holds',
  everySeconds: 60,
  async run(core) {
    for (;;) {
      const released = await core.db.transaction().execute(async (tx) => {
        const hold = await holds.lockEnded(tx, core.now())
        return hold && releaseHold(core, tx, undefined, hold.id, 'The end date has passed')
      })
      if (!released) return
    }
  },
}
