import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { chance, type Mail, storeMail } from '../../../../test/support/traffic.ts'
import { countEngagement } from '../../../hosting/engagement.repository.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts'
import { foldTraffic } from '../../analytics/analytics.jobs.ts'

const STATUSES = ['delivered', 'delivered', 'bounced', 'deferred', 'rejected']

let app: App
let support: Awaited<ReturnType<App['operator']>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  support = await app.operator('support')
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  const random = chance(3)
  const owners = new Map([
    ['acme.test', acme.organizationId],
    ['globex.test', globex.organizationId],
  ])
  const hosts = ['acme.test', 'acme.test', 'globex.test', 'elsewhere.test']
  for (let batch = 0; batch < 6; batch++) {
    const mails: Mail[] = Array.from({ length: 400 }, () => {
      const from = hosts[random(4)] as string
      const to = hosts[random(4)] as string
      return {
        sender: `a@${from}`,
        recipient: `b@${to}`,
        status: STATUSES[random(5)] as string,
        at: new Date(app.clock.now().getTime() - random(60 * 24 * 60) * MINUTE_MS),
        organizationId: owners.get(from) ?? owners.get(to) ?? null,
      }
    })
    await storeMail(app, mails)
    if (batch === 3) await foldTraffic.round(app.core)
  }
})
afterAll(() => app.stop())

const read = async (path: string) => {
  const { status, body } = await support.get(`/api/v1/platform/analytics/${path}`)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body.data
}

describe('platform analytics queries', () => {
  it.each([
    ['overview?granularity=year', 422, 'granularity must be one of: hour, day, week, month'],
    ['growth?granularity=year', 422, 'granularity must be one of: hour, day, week, month'],
    ['overview?days=0', 422, 'days must be at least 1'],
    ['overview?days=200&granularity=hour', 422, 'More than 4000 buckets'],
    ['overview?organization_id=nobody', 404, 'Organization not found'],
    ['heatmap?organization_id=nobody', 404, 'Organization not found'],
  ])('answers %s with %d', async (path, status, msg) => {
    const answer = await support.get(`/api/v1/platform/analytics/${path}`)
    expect(answer.status).toBe(status)
    expect(answer.body.msg.toLowerCase()).toContain(msg.toLowerCase())
  })

  it('limits days to 366 for the overview and 730 for growth', async () => {
    expect((await read('overview?days=9999')).series.length).toBe(367)
    expect((await read('growth?days=9999')).series.length).toBe(731)
  })
})

describe('platform analytics overview', () => {
  const sums = async (granularity: string, since: string, organization?: string) => {
    const isOf = (column: 'sender' | 'recipient') => sql`exists (
      select from domains where domain = split_part(${sql.ref(column)}, '@', 2)
        and (${organization ?? null}::text is null or domains.organization_id = ${organization ?? null}))`
    const out = isOf('sender')
    const { rows } = await sql<{ bucket: string; sent: number }>`
      select date_trunc(${granularity}, "timestamp", 'UTC') as bucket,
        count(*) filter (where ${out}) as sent,
        count(*) filter (where ${out} and status = 'delivered') as delivered,
        count(*) filter (where ${out} and status = 'bounced') as bounced,
        count(*) filter (where ${out} and status = 'deferred') as deferred,
        count(*) filter (where ${isOf('recipient')} and status = 'delivered') as received
      from mail_log where "timestamp" >= ${since}::timestamptz
      group by 1 order by 1`.execute(app.core.db)
    return rows.filter((row) => Object.values(row).some((value) => Number(value) > 0))
  }

  it.each(['hour', 'day', 'week', 'month'])(
    'by %s equals the rows of the mail log',
    async (granularity) => {
      for (const organization of [undefined, acme.organizationId]) {
        const of = organization ? `&organization_id=${organization}` : ''
        const data = await read(`overview?days=45&granularity=${granularity}${of}`)
        const { start } = data.range
        const expected = await sums(granularity, start, organization)
        const withMail = data.series.filter((row: object) =>
          Object.values(row).some((value) => Number(value) > 0),
        )
        expect(withMail).toEqual(expected)
        expect(data.series[0].bucket).toBe(start)
        const total = expected.reduce((sum, { sent }) => sum + sent, 0)
        expect(data.totals.sent).toBe(total)
        const ofDomains = data.domains.reduce(
          (sum: number, { sent }: { sent: number }) => sum + sent,
          0,
        )
        expect(ofDomains).toBe(total)
        const times = data.series.map(({ bucket }: { bucket: string }) => bucket)
        expect(times).toEqual([...new Set(times)].sort())
      }
    },
  )

  it('ranks domains by sent mail and divides complaints by sent mail', async () => {
    await app.core.db.transaction().execute((tx) =>
      countEngagement(tx, [
        {
          organization_id: globex.organizationId,
          domain: 'globex.test',
          recipient: 'c@elsewhere.test',
          event_type: 'complained',
          automated: false,
          created_at: app.clock.now().toISOString(),
        },
      ]),
    )
    for (const granularity of ['hour', 'day']) {
      const { domains } = await read(`overview?days=30&granularity=${granularity}`)
      expect(domains.map(({ domain }: { domain: string }) => domain)).toEqual([
        'acme.test',
        'globex.test',
      ])
      const [, { sent, delivered, bounced, delivery_rate, complaint_rate }] = domains
      expect(complaint_rate).toBe(Math.round((1 / sent) * 1e4) / 100)
      expect(delivery_rate).toBeLessThan((delivered / (delivered + bounced)) * 100)
      expect(domains[0].complaint_rate).toBe(0)
    }
  })
})

describe('platform send heat map', () => {
  it('returns 168 cells that sum up all sent mail', async () => {
    const { cells, max } = await read('heatmap?days=366')
    expect(cells).toHaveLength(168)
    const { rows } = await sql<{ weekday: number; hour: number; count: number }>`
      select extract(isodow from "timestamp" at time zone 'UTC')::int - 1 as weekday,
        extract(hour from "timestamp" at time zone 'UTC')::int as hour, count(*) as count
      from mail_log where split_part(sender, '@', 2) in ('acme.test', 'globex.test')
      group by 1, 2 order by 1, 2`.execute(app.core.db)
    expect(cells.filter(({ count }: { count: number }) => count > 0)).toEqual(rows)
    expect(max).toBe(Math.max(...rows.map(({ count }) => count)))
  })

  it('returns only zeros for an organization without mail', async () => {
    const { organizationId } = await app.tenant('silent')
    const { cells, max } = await read(`heatmap?organization_id=${organizationId}`)
    expect(max).toBe(0)
    expect(new Set(cells.map(({ count }: { count: number }) => count))).toEqual(new Set([0]))
  })
})

describe('platform growth', () => {
  it('counts the resources that existed at the end of each bucket', async () => {
    const ago = (days: number) => new Date(app.clock.now().getTime() - days * DAY_MS).toISOString()
    await sql`update organizations set created_at = ${ago(400)}::timestamptz
      where id = ${acme.organizationId}`.execute(app.core.db)
    await sql`update domains set created_at = ${ago(3)}::timestamptz
      where organization_id = ${acme.organizationId}`.execute(app.core.db)
    const { series, totals } = await read('growth?days=10')
    expect(series).toHaveLength(11)
    const organizations = await app.core.db.selectFrom('organizations').select('id').execute()
    expect(totals.organizations).toBe(organizations.length)
    expect(series[0]).toMatchObject({ organizations: 1, domains: 0, storage_bytes: null })
    expect(series[6].domains).toBe(0)
    expect(series[7]).toMatchObject({ organizations: 1, domains: 1 })
    expect(series.at(-1)).toEqual({ bucket: series[10].bucket, ...totals })
  })
})
