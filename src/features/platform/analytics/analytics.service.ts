import type { Core } from '../../../core.ts'
import { Unprocessable } from '../../../errors.ts'
import { percent } from '../../../lib/percent.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { OrganizationNotFound } from '../../organizations/organizations.errors.ts'
import * as figures from './analytics.repository.ts'
import { bucketsSince, GRANULARITIES, isGranularity, startOf } from './buckets.ts'

const MAX_DAYS = 366
const MAX_GROWTH_DAYS = 730

interface Query {
  days?: number
  granularity?: string
  organization_id?: string
}

export type PlatformAnalyticsService = ReturnType<typeof platformAnalyticsService>

export function platformAnalyticsService({ db, now }: Pick<Core, 'db' | 'now'>) {
  async function checkOrganization(id: string | undefined): Promise<void> {
    if (id !== undefined && !(await figures.organizationExists(db, id))) {
      throw new OrganizationNotFound()
    }
  }

  return {
    async overview({ days = 30, granularity: requested, organization_id }: Query) {
      const end = now()
      const granularity = granularityOf(requested)
      const buckets = bucketsSince(Math.min(days, MAX_DAYS), granularity, end)
      await checkOrganization(organization_id)
      const [start] = buckets as [Date]
      // Whole days come from daily counters. Today counts as whole: it has no later mail yet.
      const tomorrow = new Date(startOf(end, 'day').getTime() + DAY_MS)
      const firstDay = startOf(new Date(start.getTime() + DAY_MS - 1), 'day')
      const [rows, domains] = await Promise.all([
        figures.series(db, organization_id, buckets, tomorrow),
        figures.topDomains(
          db,
          organization_id,
          { from: start, to: tomorrow },
          { from: firstDay, to: tomorrow },
        ),
      ])
      const counts = new Map(rows.map(({ nth, ...traffic }) => [nth, traffic]))
      const series = buckets.map((bucket, index) => ({
        bucket: bucket.toISOString(),
        ...(counts.get(index + 1) ?? NO_MAIL),
      }))
      const totals = series.reduce<Counts>(
        (sum, { sent, delivered, bounced, deferred, received }) => ({
          sent: sum.sent + sent,
          delivered: sum.delivered + delivered,
          bounced: sum.bounced + bounced,
          deferred: sum.deferred + deferred,
          received: sum.received + received,
        }),
        NO_MAIL,
      )
      return {
        range: { start: start.toISOString(), end: end.toISOString(), granularity },
        totals: { ...totals, delivery_rate: deliveryRate(totals) },
        series,
        domains: domains.map((row) => ({
          domain: row.domain,
          organization_id: row.organization_id,
          sent: row.sent,
          delivered: row.delivered,
          bounced: row.bounced,
          delivery_rate: deliveryRate(row),
          complaint_rate: percent(row.complained, row.sent),
        })),
      }
    },

    async growth({ days = 90, granularity: requested }: Query) {
      const buckets = bucketsSince(Math.min(days, MAX_GROWTH_DAYS), granularityOf(requested), now())
      const [created, totals] = await Promise.all([figures.growth(db, buckets), figures.totals(db)])
      const totalsOf = (what: figures.Growth['what']) => {
        const counts = new Map(
          created.flatMap((row) => (row.what === what ? [[row.nth, row.count]] : [])),
        )
        const inWindow = [...counts.values()].reduce((sum, count) => sum + count, 0)
        let sum = totals[what] - inWindow
        return buckets.map((_, index) => {
          sum += counts.get(index + 1) ?? 0
          return sum
        })
      }
      const organizations = totalsOf('organizations')
      const domains = totalsOf('domains')
      const mailboxes = totalsOf('mailboxes')
      const series = buckets.map((bucket, index) => ({
        bucket: bucket.toISOString(),
        organizations: organizations[index] as number,
        domains: domains[index] as number,
        mailboxes: mailboxes[index] as number,
        storage_bytes: index === buckets.length - 1 ? totals.storage_bytes : null,
      }))
      return { series, totals }
    },

    async heatmap({ days = 30, organization_id }: Query) {
      await checkOrganization(organization_id)
      const end = now()
      const from = startOf(new Date(end.getTime() - Math.min(days, MAX_DAYS) * DAY_MS), 'hour')
      const to = new Date(startOf(end, 'hour').getTime() + DAY_MS / 24)
      const rows = await figures.heatmap(db, organization_id, { from, to })
      const counts = new Map(rows.map(({ weekday, hour, count }) => [weekday * 24 + hour, count]))
      const cells = Array.from({ length: 7 * 24 }, (_, index) => ({
        weekday: Math.floor(index / 24),
        hour: index % 24,
        count: counts.get(index) ?? 0,
      }))
      return { cells, max: Math.max(...cells.map(({ count }) => count)) }
    },
  }
}

interface Counts {
  sent: number
  delivered: number
  bounced: number
  deferred: number
  received: number
}

const NO_MAIL: Counts = { sent: 0, delivered: 0, bounced: 0, deferred: 0, received: 0 }

/** Messages that were rejected at once are not part of the rate. */
const deliveryRate = ({ delivered, bounced, deferred }: Omit<Counts, 'sent' | 'received'>) =>
  percent(delivered, delivered + bounced + deferred)

function granularityOf(requested = 'day') {
  if (isGranularity(requested)) return requested
  throw new Unprocessable(`granularity must be one of: ${GRANULARITIES.join(', ')}`)
}
