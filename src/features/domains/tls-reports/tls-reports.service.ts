import type { Caller } from '../../../access/caller.ts'
import type { Core } from '../../../core.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { DomainNotFound } from '../domains.errors.ts'
import * as domains from '../domains.repository.ts'
import { newest, sums } from './tls-reports.repository.ts'

const SHOWN = 100

export type TlsReportService = ReturnType<typeof tlsReportService>

export const tlsReportService = ({ db, now }: Pick<Core, 'db' | 'now'>) => ({
  async get(caller: Caller, id: string, days: number) {
    const row = await domains.find(db, caller.scope, id)
    if (!row) throw new DomainNotFound()
    const since = new Date(now().getTime() - days * DAY_MS)
    const [totals, reports] = await Promise.all([sums(db, id, since), newest(db, id, since, SHOWN)])
    const { reports: report_count, ...counts } = totals
    return {
      domain: row.domain,
      days,
      report_count,
      ...counts,
      reports: reports.map(({ failures, ...report }) => ({
        ...report,
        failures: failures as Record<string, number>,
      })),
    }
  },
})
