import type { Job } from '../../jobs/jobs.ts'
import { eraseCredentials } from './migration.repository.ts'

const EVERY_SECONDS = 600

export const eraseOldCredentials: Job = {
  name: 'migration.erase-credentials',
  everySeconds: EVERY_SECONDS,
  run: ({ db, now }) => eraseCredentials(db, now()),
}
