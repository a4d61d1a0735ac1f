import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { deleteRetiredBefore } from './dkim.repository.ts'

const RETENTION_MS = 14 * DAY_MS

/** Mail is retried for days, so the key must stay verifiable until the last message arrives. */
export const deleteRetiredKeys: Job = {
  name: 'dkim.delete-retired-keys',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteRetiredBefore(db, new Date(now().getTime() - RETENTION_MS)),
}
