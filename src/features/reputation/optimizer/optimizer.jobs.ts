import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { deleteCountsBefore } from './limits.repository.ts'
import { deleteSendsBefore } from './warming.repository.ts'
import { warmingService } from './warming.service.ts'

const KEPT_MS = 7 * DAY_MS

export const tellWarmUp: Job = {
  name: 'optimizer.tell-warm-up',
  everySeconds: 600,
  run: (core) => warmingService(core).tellSteps(),
}

export const deleteOldCounts: Job = {
  name: 'optimizer.delete-old-counts',
  everySeconds: HOUR_SECONDS,
  async run({ db, now }) {
    const before = new Date(now().getTime() - KEPT_MS)
    await deleteCountsBefore(db, before)
    await deleteSendsBefore(db, before)
  },
}
