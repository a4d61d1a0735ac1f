import type { Config } from '../../../config/index.ts'
import type { Job } from '../../../jobs/jobs.ts'
import { percent } from '../../../lib/percent.ts'
import { DAY_MS, HOUR_SECONDS } from '../../../lib/time.ts'
import { UsageReport } from '../storage.events.ts'
import { domainQuotas } from './alerts.ts'
import * as calculations from './calculations.repository.ts'

const KEPT_MS = 90 * DAY_MS
const AT_ONCE = 100

/** Emits the usage of each domain whose figures changed since the last report. */
export const reportUsage = (config: Pick<Config, 'STORAGE_CALC_INTERVAL'>): Job => ({
  name: 'storage.report-usage',
  everySeconds: config.STORAGE_CALC_INTERVAL,
  async run({ config, db, events, now }) {
    const report = () =>
      db.transaction().execute(async (tx) => {
        const domains = await calculations.unreported(tx, AT_ONCE)
        const calculated_at = now().toISOString()
        for (const row of domains) {
          const quota = domainQuotas(row, config).total_storage_limit
          await calculations.insert(tx, {
            organization_id: row.organization_id,
            domain: row.domain,
            used_bytes: row.total_storage_used,
            quota_bytes: quota,
            total_emails: row.total_emails,
            calculated_at,
          })
          await events.emit(
            tx,
            UsageReport,
            { org_id: row.organization_id, domain: row.domain },
            {
              entity_type: 'domain',
              identifier: row.domain,
              used_bytes: row.total_storage_used,
              quota_bytes: quota,
              usage_percentage: percent(row.total_storage_used, quota ?? 0),
              calculated_at,
            },
          )
        }
        return domains.length
      })
    while ((await report()) === AT_ONCE);
  },
})

export const deleteOldCalculations: Job = {
  name: 'storage.delete-old-calculations',
  everySeconds: HOUR_SECONDS,
  run: ({ db, now }) => calculations.deleteBefore(db, new Date(now().getTime() - KEPT_MS)),
}
