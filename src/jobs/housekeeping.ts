import { deleteSessionsBefore } from '../access/sessions.repository.ts'
import { deleteAttemptsBefore } from '../access/throttle.repository.ts'
import { deleteExpired } from '../http/idempotency.repository.ts'
import type { Job } from './jobs.ts'

const HOUR_SECONDS = 3600
const HISTORY_MS = 90 * 24 * HOUR_SECONDS * 1000

const longAgo = (now: Date) => new Date(now.getTime() - HISTORY_MS)

export const deleteExpiredIdempotencyKeys: Job = {
  name: 'idempotency.delete-expired',
  everySeconds: HOUR_SECONDS,
  run: ({ db }) => deleteExpired(db),
}

export const deleteOldSessions: Job = {
  name: 'sessions.delete-old',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteSessionsBefore(db, longAgo(now())),
}

export const deleteOldFailedAttempts: Job = {
  name: 'failed-auth.delete-old',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteAttemptsBefore(db, longAgo(now()), now()),
}
