import { deleteSessionsBefore } from '../access/sessions.repository.ts'
import { deleteExpired } from '../http/idempotency.repository.ts'
import type { Job } from './jobs.ts'

const HOUR_SECONDS = 3600
const SESSION_HISTORY_MS = 90 * 24 * HOUR_SECONDS * 1000

export const deleteExpiredIdempotencyKeys: Job = {
  name: 'idempotency.delete-expired',
  everySeconds: HOUR_SECONDS,
  run: ({ db }) => deleteExpired(db),
}

export const deleteOldSessions: Job = {
  name: 'sessions.delete-old',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteSessionsBefore(db, new Date(now().getTime() - SESSION_HISTORY_MS)),
}
