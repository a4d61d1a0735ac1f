import type { Caller } from '../../access/caller.ts'
import type { Core } from '../../core.ts'
import { Unprocessable } from '../../errors.ts'
import { type Page, paginated } from '../../http/paging.ts'
import { dateRange } from '../../lib/date-range.ts'
import { toDomainName } from '../../lib/domain-name.ts'
import { DomainNotFound } from '../domains/domains.errors.ts'
import * as domains from './domains.repository.ts'
import * as feedback from './feedback.repository.ts'
import * as ips from './ips.repository.ts'
import { PERIOD_TYPES, type PeriodType } from './period.ts'
import { FeedbackReportNotFound } from './reputation.errors.ts'
import { complaintTrend, suppressionTotals } from './summary.repository.ts'

const WORST = 10

type WithPeriod<Filter> = Omit<Filter, 'period_type'> & { period_type?: string }
type WithDates = Omit<feedback.FeedbackFilter, 'from' | 'to'> & {
  date_from?: string
  date_to?: string
}

export type ReputationService = ReturnType<typeof reputationService>

/** The reputation of our mail elsewhere, and of the clients that connect here. */
export const reputationService = ({ change, db, now }: Pick<Core, 'change' | 'db' | 'now'>) => ({
  async domains(
    { period_type, ...filter }: WithPeriod<domains.DomainFilter>,
    sort: Parameters<typeof domains.list>[2],
    page: Page,
  ) {
    const wanted = { ...filter, period_type: periodTypeOf(period_type) }
    const { items, total } = await domains.list(db, wanted, sort, page)
    return paginated(items, total, page)
  },

  async domain(
    name: string,
    query: { period_type?: string; history_limit?: number; complaint_limit?: number },
  ) {
    const period = periodTypeOf(query.period_type)
    const found = await domains.find(db, toDomainName(name) ?? '')
    if (!found) throw new DomainNotFound()
    const { id, domain, organization_id } = found
    const [history, complaints] = await Promise.all([
      domains.history(db, id, period, query.history_limit ?? 30),
      feedback.ofDomain(db, domain, organization_id, query.complaint_limit ?? 25),
    ])
    return { domain, current: history[0] ?? null, history, complaints }
  },

  async ips(filter: ips.IpFilter, sort: Parameters<typeof ips.list>[2], page: Page) {
    const { items, total } = await ips.list(db, filter, sort, page, now())
    return paginated(items, total, page)
  },

  async feedbackLoops(
    { date_from, date_to, domain, ...filter }: WithDates,
    sort: Parameters<typeof feedback.list>[2],
    page: Page,
  ) {
    const wanted = {
      ...filter,
      ...(domain !== undefined && { domain: toDomainName(domain) ?? domain }),
      ...dateRange(date_from, date_to),
    }
    const { items, total } = await feedback.list(db, wanted, sort, page)
    return paginated(items, total, page)
  },

  markFeedback: (caller: Caller, id: string, processed: boolean) =>
    change(caller, async (tx) => {
      const report = await feedback.setProcessed(tx, id, processed, now())
      if (!report) throw new FeedbackReportNotFound()
      return report
    }),

  async summary(query: { organization_id?: string; days?: number; period_type?: string }) {
    const { organization_id, days = 30 } = query
    const period_type = periodTypeOf(query.period_type)
    const own = organization_id === undefined ? {} : { organization_id }
    const [worst_domains, worst_ips, trend, by_type] = await Promise.all([
      domains.worst(db, { period_type, ...own }, WORST),
      ips.worst(db, WORST, now()),
      complaintTrend(db, organization_id, days, now()),
      suppressionTotals(db, organization_id, now()),
    ])
    return {
      worst_domains,
      worst_ips,
      complaint_trend: trend.map((day) => ({
        ...day,
        complaint_rate: day.delivered === 0 ? null : rateOf(day.complained, day.delivered),
      })),
      suppressions: {
        total: Object.values(by_type).reduce((sum, count) => sum + count, 0),
        by_type,
      },
    }
  },
})

const rateOf = (part: number, whole: number) => Math.round((part / whole) * 1_000_000) / 1_000_000

function periodTypeOf(text = 'DAILY'): PeriodType {
  const found = PERIOD_TYPES.find((type) => type === text.toUpperCase())
  if (found) return found
  throw new Unprocessable(`period_type must be one of ${PERIOD_TYPES.join(', ')}`)
}
