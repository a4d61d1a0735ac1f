import { deleteLinksBefore } from '../access/account-links.repository.ts'
import { deleteSessionsBefore } from '../access/sessions.repository.ts'
import { deleteAttemptsBefore } from '../access/throttle.repository.ts'
import { deleteExpired } from '../http/idempotency.repository.ts'
import { DAY_MS, HOUR_SECONDS } from '../lib/time.ts'
import type { Job } from './jobs.ts'

const HISTORY_MS = 90 * DAY_MS

const longAgo = (now: Date) => new Date(now.getTime() - HISTORY_MS)

export const deleteExpiredIdempotencyKeys: Job = {
  name: 'idempotency.delete-expired',
  everySeconds: HOUR_SECONDS,
  run: ({ db }) => deleteExpired(db),
}

const deleteOldSessions: Job = {
  name: 'sessions.delete-old',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteSessionsBefore(db, longAgo(now())),
}

export const deleteOldFailedAttempts: Job = {
  name: 'failed-auth.delete-old',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteAttemptsBefore(db, longAgo(now()), now()),
}

const deleteOldLinks: Job = {
  name: 'account-links.delete-old',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteLinksBefore(db, longAgo(now())),
}

/** Jobs of the request pipeline, which belong to no feature. */
export const housekeeping: readonly Job[] = [
  deleteExpiredIdempotencyKeys,
  deleteOldSessions,
  deleteOldFailedAttempts,
  deleteOldLinks,
]
