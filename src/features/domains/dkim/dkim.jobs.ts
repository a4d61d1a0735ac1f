import type { Job } from '../../../jobs/jobs.ts'
import { deleteRetiredBefore } from './dkim.repository.ts'

const HOUR_SECONDS = 3600
const KEPT_MS = 14 * 24 * HOUR_SECONDS * 1000

/** Mail is retried for days; its signature must be verifiable until the last of it has arrived. */
export const deleteRetiredKeys: Job = {
  name: 'dkim.delete-retired-keys',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => deleteRetiredBefore(db, new Date(now().getTime() - KEPT_MS)),
}
