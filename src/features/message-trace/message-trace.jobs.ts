import type { Job } from '../../jobs/jobs.ts'
import { expire } from './quarantine.repository.ts'

export const expireQuarantine: Job = {
  name: 'quarantine.expire',
  everySeconds: 3600,
  run: ({ db, now }) => expire(db, now()),
}
