import type { Job } from '../../../jobs/jobs.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { deleteBefore } from './tls-reports.repository.ts'

export const TLS_REPORT_DAYS = 90

export const forgetTlsReports: Job = {
  name: 'domains.forget-tls-reports',
  everySeconds: HOUR_SECONDS,
  run: async ({ db, now }) => {
    await deleteBefore(db, new Date(now().getTime() - TLS_REPORT_DAYS * DAY_MS))
  },
}
