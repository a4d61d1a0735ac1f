import type { Job } from '../../jobs/jobs.ts'
import { HOUR_SECONDS } from '../../lib/time.ts'
import { removeExpired } from './provider/items.repository.ts'
import { rotateKeys } from './provider/signing-keys.ts'

/** Deletes codes, tokens and sign-ins that have ended, and grants that nothing uses any more. */
export const deleteExpiredItems: Job = {
  name: 'oauth.delete-expired',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => removeExpired(db, now()),
}

/** Replaces the key that signs identity tokens from time to time. */
export const rotateSigningKeys: Job = {
  name: 'oauth.rotate-keys',
  everySeconds: HOUR_SECONDS,
  run: rotateKeys,
}
