import { deleteScoresBefore } from '../../hosting/mail-scores.repository.ts'
import type { Job } from '../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../lib/time.ts'
import { expire } from './quarantine.repository.ts'

/** Longer than a message stays in the queue. */
const SCORES_KEPT_MS = 7 * DAY_MS

export const expireQuarantine: Job = {
  name: 'quarantine.expire',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => expire(db, now()),
}

export const deleteOldScores: Job = {
  name: 'message-trace.delete-old-scores',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteScoresBefore(db, new Date(now().getTime() - SCORES_KEPT_MS)),
}
