import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { chance, type Mail, storeMail } from '../../../test/support/traffic.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/time.ts'
import { foldTraffic } from './analytics.jobs.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>

const QUARTER_MS = 15 * MINUTE_MS
const STATUSES = ['delivered', 'delivered', 'delivered', 'bounced', 'deferred', 'rejected', 'sent']

let app: App
let acme: Tenant
let globex: Tenant
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

/** The query for the latest occurrence of these days that is completely in the past. */
function lately(first: string, last: string): string {
  const now = new Date()
  const isOver = new Date(`${now.getUTCFullYear()}-${last}`).getTime() < now.getTime() - 2 * DAY_MS
  const year = now.getUTCFullYear() - (isOver ? 0 : 1)
  return `start=${year}-${first}&end=${year}-${last}`
}
const daysAgo = (days: number) => new Date(app.clock.now().getTime() - days * DAY_MS)
const read = async (client: Pick<Tenant, 'get'>, path: string) => {
  const { status, body } = await client.get(`/api/v1/analytics${path}`)
  if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`)
  return body.data
}
const fold = () => foldTraffic.round(app.core)
const foldAll = async () => {
  while (await fold()) {}
}

describe('GET /api/v1/analytics', () => {
  it.each(['dashboard', 'email-volume', 'engagement', 'deliverability', 'metrics'])(
    'returns 404 from %s for an unknown domain and for one of another tenant',
    async (route) => {
      for (const domain of ['globex.test', 'GLOBEX.test', 'nowhere.test', 'not a name']) {
        const answer = await acme.get(`/api/v1/analytics/${route}/${encodeURIComponent(domain)}`)
        expect(answer).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
      }
      const operator = await app.operator('support')
      const nowhere = await operator.get(`/api/v1/analytics/${route}/nowhere.test`)
      expect(nowhere).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
      const any = await operator.get(`/api/v1/analytics/${route}/GLOBEX.test`)
      expect(any).toMatchObject({ status: 200, body: { data: { domain: 'globex.test' } } })
    },
  )

  it.each([
    ['days=0', 'days must be at least 1'],
    ['days=366', 'days must be at most 365'],
    ['days=x', 'days must be a whole number'],
    ['timezone=Mars/Olympus', 'timezone must be a name such as UTC or Europe/Berlin'],
    ['start=soon', 'start/end must be ISO dates or datetimes'],
    ['start=2026-02-02&end=2026-02-01', 'start must lie before end'],
  ])('rejects ?%s with 422 and a message', async (query, msg) => {
    const answer = await acme.get(`/api/v1/analytics/dashboard/acme.test?${query}`)
    expect(answer.status).toBe(422)
    expect(answer.body.msg.toLowerCase()).toBe(msg.toLowerCase())
  })

  it('reports analytics as healthy', async () => {
    expect(await read(acme, '/health')).toEqual({ status: 'healthy', service: 'analytics' })
  })
})

describe('the analytics of a domain without mail', () => {
  it('are zeros, with null for rates that cannot be computed', async () => {
    const lone = await app.tenant('lone')
    expect(await read(lone, '/dashboard/lone.test')).toEqual({
      domain: 'lone.test',
      period_days: 30,
      total_sent: 0,
      delivered: 0,
      bounced: 0,
      failed: 0,
      attempts: 0,
      opened: 0,
      clicked: 0,
      complained: 0,
      unsubscribed: 0,
      generated_at: expect.stringMatching(/Z$/),
    })
    expect(await read(lone, '/email-volume/lone.test')).toMatchObject({ volume: [] })
    expect(await read(lone, '/engagement/lone.test')).toMatchObject({
      open_rate: 0,
      click_to_open_rate: 0,
      reply_rate: null,
      average_read_time_seconds: null,
    })
    expect(await read(lone, '/deliverability/lone.test')).toMatchObject({
      bounce_rate: 0,
      complaint_rate: 0,
      average_spam_score: 0,
      dkim_configured: false,
      dkim_selector: 'default',
      spf_pass_rate: null,
    })
    expect(await read(lone, '/metrics/lone.test?days=7')).toMatchObject({
      period_days: 7,
      storage_used_bytes: 0,
      storage_quota_bytes: 10737418240,
      active_email_accounts: 1,
      max_email_accounts: 1000,
      lifetime_emails: 0,
      lifetime_attachments: 0,
    })
  })
})

describe('the analytics of random mail', () => {
  const WINDOWS = [
    'days=1',
    'days=30',
    'days=365',
    'days=40&timezone=Asia/Kathmandu',
    'days=365&timezone=America/New_York',
    // Both changes of daylight saving time, and a whole month.
    `${lately('03-20', '04-02')}&timezone=Europe/Berlin`,
    `${lately('10-20', '11-02')}&timezone=Europe/Berlin`,
    lately('02-01', '02-28'),
  ]
  beforeAll(async () => {
    const random = chance(7)
    const hosts = ['acme.test', 'globex.test', 'elsewhere.test', 'else.acme.test']
    const owners: Record<string, string> = {
      'acme.test': acme.organizationId,
      'globex.test': globex.organizationId,
    }
    // Batches of 1 and 300 messages with random times; some are folded in between.
    for (let batch = 0; batch < 40; batch++) {
      const mails: Mail[] = Array.from({ length: batch % 4 === 0 ? 1 : 300 }, () => {
        const from = hosts[random(4)] as string
        const to = hosts[random(4)] as string
        return {
          sender: random(20) === 0 ? '' : `a${random(9)}@${from}`,
          recipient: `b${random(9)}@${to}`,
          status: STATUSES[random(7)] as string,
          at: daysAgo((random(380_000) / 1000) * (random(2) || 0.01)),
          organizationId: owners[from] ?? owners[to] ?? null,
          spamScore: random(3) === 0 ? null : random(100) / 8,
        }
      })
      await storeMail(app, mails)
      if (batch % 10 === 9) await foldTraffic.round(app.core)
    }
  })

  /** Computes the expected figures from the rows of the mail log. */
  async function fromRows(tenant: Tenant, query: string) {
    const params = new URLSearchParams(query)
    const zone = params.get('timezone') ?? 'UTC'
    const now = app.clock.now().getTime()
    const days = Number(params.get('days') ?? 30)
    const from = params.has('start')
      ? sql`(${params.get('start')}::date)::timestamp at time zone ${zone}`
      : sql`${new Date(Math.floor((now - days * DAY_MS) / QUARTER_MS) * QUARTER_MS).toISOString()}::timestamptz`
    const to = params.has('end')
      ? sql`(${params.get('end')}::date + 1)::timestamp at time zone ${zone}`
      : sql`'infinity'::timestamptz`
    const domain = tenant.domain
    const { rows: sums } = await sql<Record<string, number>>`
      select count(*) as total_sent, count(*) filter (where status in ('sent', 'delivered')) as delivered,
        count(*) filter (where status = 'bounced') as bounced,
        count(*) filter (where status in ('rejected', 'deferred')) as failed
      from mail_log
      where organization_id = ${tenant.organizationId} and split_part(sender, '@', 2) = ${domain}
        and "timestamp" >= ${from} and "timestamp" < ${to}`.execute(app.core.db)
    // Rspamd scores mail that comes in, so delivered mail to the domain counts as well.
    const { rows: scores } = await sql<Record<string, number>>`
      select coalesce(round(avg(spam_score)::numeric, 2), 0)::float8 as average_spam_score
      from (
        select spam_score, "timestamp" from mail_log
        where organization_id = ${tenant.organizationId} and split_part(sender, '@', 2) = ${domain}
        union all
        select spam_score, "timestamp" from mail_log
        where split_part(recipient, '@', 2) = ${domain} and status in ('sent', 'delivered')
      ) as scored
      where "timestamp" >= ${from} and "timestamp" < ${to}`.execute(app.core.db)
    const { rows: volume } = await sql`
      select to_char("timestamp" at time zone ${zone}, 'YYYY-MM-DD') as date,
        count(*) filter (where split_part(sender, '@', 2) = ${domain}) as outbound,
        count(*) filter (where split_part(recipient, '@', 2) = ${domain}) as inbound
      from mail_log
      where (split_part(sender, '@', 2) = ${domain} or split_part(recipient, '@', 2) = ${domain})
        and "timestamp" >= ${from} and "timestamp" < ${to}
      group by 1 order by 1`.execute(app.core.db)
    return { ...sums[0], ...scores[0], volume }
  }

  it.each(['as they were stored', 'once they are added up'])(
    'equal the rows of the mail log, %s',
    async (when) => {
      if (when === 'once they are added up') {
        await foldAll()
        const left = await app.core.db.selectFrom('mail_traffic_pending').selectAll().execute()
        expect(left).toEqual([])
      }
      for (const query of WINDOWS) {
        for (const tenant of [acme, globex]) {
          const { average_spam_score, volume, ...counts } = (await fromRows(
            tenant,
            query,
          )) as Record<string, unknown>
          expect(counts.total_sent, query).toBeGreaterThan(0)
          const path = `${tenant.domain}?${query}`
          expect(await read(tenant, `/dashboard/${path}`), query).toMatchObject(counts)
          expect(await read(tenant, `/email-volume/${path}`), query).toMatchObject({ volume })
          const { average_spam_score: score } = await read(tenant, `/deliverability/${path}`)
          expect(score, query).toBeCloseTo(average_spam_score as number, 1)
        }
      }
    },
  )

  it('equal the counts that the migration computes from all rows at once', async () => {
    await foldAll()
    const tables = ['mail_traffic_quarters', 'mail_traffic_days', 'mail_traffic_hours']
    const { db } = app.core
    const undone = new Error('undone')
    const counting = db.transaction().execute(async (tx) => {
      const all = async (table: string) => {
        const { rows } = await sql`
          select to_jsonb(one) - 'spam_score_sum' as row, round(spam_score_sum::numeric, 3) as score
          from ${sql.table(table)} as one order by 1`.execute(tx)
        return rows
      }
      const before = await Promise.all(tables.map(all))
      for (const table of tables) await sql`delete from ${sql.table(table)}`.execute(tx)
      await sql`select count_all_mail_traffic()`.execute(tx)
      const after = await Promise.all(tables.map(all))
      expect(before.every((rows) => rows.length > 300)).toBe(true)
      expect(after).toEqual(before)
      throw undone
    })
    await expect(counting).rejects.toBe(undone)
  })

  it('count no message twice while a fold runs', async () => {
    const before = await read(acme, '/dashboard/acme.test?days=365')
    const random = chance(11)
    const more = Array.from({ length: 60 }, () => ({
      sender: 'a@acme.test',
      recipient: 'b@acme.test',
      status: 'delivered',
      at: daysAgo(random(300)),
      organizationId: acme.organizationId,
    }))
    let isDone = false
    const folding = (async () => {
      while (!isDone) await fold()
    })()
    for (const [index, mail] of more.entries()) {
      await storeMail(app, [mail])
      const { total_sent } = await read(acme, '/dashboard/acme.test?days=365')
      expect(total_sent).toBe(before.total_sent + index + 1)
    }
    isDone = true
    await folding
  })

  it('are folded once by many concurrent folds', async () => {
    const before = await read(globex, '/metrics/globex.test?days=2')
    const mail = (n: number): Mail => ({
      sender: 'x@globex.test',
      recipient: `y${n}@elsewhere.test`,
      status: 'bounced',
      at: daysAgo(1),
      organizationId: globex.organizationId,
    })
    await Promise.all(
      Array.from({ length: 40 }, async (_, n) => {
        await storeMail(app, [mail(n), mail(n)])
        await fold()
      }),
    )
    await foldAll()
    const after = await read(globex, '/metrics/globex.test?days=2')
    expect(after.bounced).toBe(before.bounced + 80)
  })
})

describe('traffic counts', () => {
  it('belong to the organization at the time of the mail: a later owner of the domain starts at zero', async () => {
    const first = await app.tenant('moving')
    await storeMail(app, [
      {
        sender: 'a@moving.test',
        recipient: 'b@elsewhere.test',
        status: 'delivered',
        at: daysAgo(1),
        organizationId: first.organizationId,
      },
    ])
    expect(await read(first, '/dashboard/moving.test')).toMatchObject({ total_sent: 1 })
    await sql`update domains set organization_id = ${acme.organizationId}
      where domain = 'moving.test'`.execute(app.core.db)
    expect(await read(acme, '/dashboard/moving.test')).toMatchObject({ total_sent: 0 })
    await foldAll()
    expect(await read(acme, '/dashboard/moving.test')).toMatchObject({ total_sent: 0 })
  })

  it('are deleted with their organization', async () => {
    const { db } = app.core
    await db.insertInto('organizations').values({ id: 'brief', name: 'brief' }).execute()
    for (const table of ['mail_traffic_quarters', 'mail_traffic_days'] as const) {
      const row = {
        organization_id: 'brief',
        domain: 'brief.test',
        bucket: daysAgo(1).toISOString(),
      }
      await db.insertInto(table).values(row).execute()
    }
    await db.deleteFrom('organizations').where('id', '=', 'brief').execute()
    const left = await db
      .selectFrom('mail_traffic_days')
      .select('bucket')
      .where('organization_id', '=', 'brief')
      .execute()
    expect(left).toEqual([])
  })
})
