import type { Job } from '../../jobs/jobs.ts'
import { HOUR_SECONDS } from '../../lib/time.ts'
import { removeExpired } from './provider/items.repository.ts'

/** Deletes codes, tokens and sign-ins that have ended, and grants that nothing uses any more. */
export const deleteExpiredItems: Job = {
  name: 'oauth.delete-expired',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => removeExpired(db, now()),
}
