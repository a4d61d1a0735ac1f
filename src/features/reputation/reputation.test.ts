import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { HOSTILE, storeReputation } from '../../../test/support/reputation.ts'
import { storeMail } from '../../../test/support/traffic.ts'
import { ipNews } from '../../hosting/ip-news.ts'
import { record } from '../../hosting/ip-reputation.repository.ts'
import { suppress } from '../../hosting/suppressions.repository.ts'

const BASE = '/api/v1/reputation'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let support: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  support = await app.operator('support')
  await storeReputation(app, acme, globex)
})
afterAll(() => app.stop())

const got = async (path: string) => {
  const { status, body } = await support.get(`${BASE}${path}`)
  expect(body).toMatchObject({ type: 'success' })
  expect(status).toBe(200)
  return body.data
}

describe('the access to reputation data', () => {
  it.each(['/domains', '/domains/acme.test', '/ips', '/feedback-loops', '/summary'])(
    'on %s is limited to operators',
    async (path) => {
      expect((await app.send('GET', `${BASE}${path}`)).status).toBe(401)
      expect(await acme.get(`${BASE}${path}`)).toMatchObject({
        status: 403,
        body: { msg: 'Platform scope required' },
      })
      const platform = await app.key(null, { scope: 'platform' })
      expect(await platform.get(`${BASE}${path}`)).toMatchObject({
        status: 403,
        body: { msg: 'Insufficient operator role' },
      })
      expect((await support.get(`${BASE}${path}`)).status).toBe(200)
    },
  )
})

describe('an invalid reputation query', () => {
  it.each([
    ['/domains?period_type=yearly', 'period_type must be one of HOURLY, DAILY, WEEKLY, MONTHLY'],
    ['/domains?max_score=101', 'max_score must be at most 100'],
    ['/domains?max_score=-1', 'max_score must be at least 0'],
    ['/domains?max_score=x', 'max_score must be a number'],
    ['/domains?sort_dir=up', "sort_dir must be 'asc' or 'desc'"],
    ['/domains?page=0', 'page must be at least 1'],
    [
      '/domains/acme.test?period_type=',
      'period_type must be one of HOURLY, DAILY, WEEKLY, MONTHLY',
    ],
    ['/domains/acme.test?history_limit=0', 'history_limit must be at least 1'],
    ['/domains/acme.test?history_limit=366', 'history_limit must be at most 365'],
    ['/domains/acme.test?complaint_limit=201', 'complaint_limit must be at most 200'],
    ['/ips?is_blocked=perhaps', "is_blocked must be 'true' or 'false'"],
    ['/ips?min_score=low', 'min_score must be a number'],
    ['/ips?per_page=0', 'per_page must be at least 1'],
    ['/feedback-loops?processed=2', "processed must be 'true' or 'false'"],
    ['/feedback-loops?date_from=soon', 'date_from/date_to must be ISO dates or datetimes'],
    ['/feedback-loops?date_to=2026-02-30', 'date_from/date_to must be ISO dates or datetimes'],
    ['/summary?days=0', 'days must be at least 1'],
    ['/summary?days=366', 'days must be at most 365'],
    ['/summary?period_type=x', 'period_type must be one of HOURLY, DAILY, WEEKLY, MONTHLY'],
  ])('%s is rejected with 422', async (path, msg) => {
    expect(await support.get(`${BASE}${path}`)).toMatchObject({ status: 422, body: { msg } })
  })

  it.each(['/domains', '/ips', '/feedback-loops'])(
    'on %s gets the accepted sort_by values',
    async (path) => {
      const { status, body } = await support.get(`${BASE}${path}?sort_by=id;drop`)
      expect(status).toBe(422)
      expect(body.msg).toMatch(/^sort_by must be one of [a-z_]+, /)
    },
  )
})

describe('the list of domain reputations', () => {
  it('contains the newest period of each domain, worst first', async () => {
    const { items, pagination } = await got('/domains')
    expect(items[0]).toEqual({
      id: expect.any(String),
      domain: 'acme.test',
      domain_id: acme.domainId,
      organization_id: acme.organizationId,
      overall_score: 80.5,
      deliverability_score: 50,
      engagement_score: 50,
      emails_sent: 20,
      emails_delivered: 0,
      emails_bounced: 0,
      emails_complained: 0,
      emails_opened: 0,
      emails_clicked: 0,
      period_start: '2026-06-20T00:00:00.000Z',
      period_end: '2026-06-21T00:00:00.000Z',
      period_type: 'DAILY',
      isp_data: null,
      trend: -14.5,
    })
    expect(items.map(({ domain }: { domain: string }) => domain)).toEqual([
      'acme.test',
      'globex.test',
    ])
    expect(items[1].trend).toBeNull()
    expect(pagination).toEqual({ page: 1, per_page: 50, total: 2, total_pages: 1 })
  })

  it.each([
    ['?period_type=Weekly', ['acme.test']],
    ['?period_type=monthly', []],
    ['?max_score=80.5', ['acme.test']],
    ['?max_score=80.4', []],
    ['?q=GLOB', ['globex.test']],
    ['?q=%25', []],
    ['?q=_', []],
    ['?sort_by=emails_sent', ['globex.test', 'acme.test']],
    ['?sort_dir=desc', ['globex.test', 'acme.test']],
    ['?organization_id=nobody', []],
    ['?per_page=1&page=2', ['globex.test']],
  ])('is filtered and sorted by the query "%s"', async (query, names) => {
    const { items } = await got(`/domains${query}`)
    expect(items.map(({ domain }: { domain: string }) => domain)).toEqual(names)
  })

  it('is filtered by organization', async () => {
    const { items } = await got(`/domains?organization_id=${globex.organizationId}`)
    expect(items).toMatchObject([{ domain: 'globex.test' }])
  })
})

describe('the reputation of a domain', () => {
  it.each(['nowhere.test', '%3Cscript%3E', 'a%00b', 'x'.repeat(300)])(
    'returns 404 or 400 for a domain that is not hosted here: %s',
    async (name) => {
      const { status } = await support.get(`${BASE}/domains/${name}`)
      expect(status).toBe(name.includes('%00') ? 400 : 404)
    },
  )

  it('includes its history and the complaints about its mail', async () => {
    const data = await got('/domains/ACME.test')
    expect(data.domain).toBe('acme.test')
    expect(data.current).toEqual(data.history[0])
    expect(data.history.map((row: { overall_score: number }) => row.overall_score)).toEqual([
      80.5, 95,
    ])
    expect(data.complaints.map((row: { sender: string }) => row.sender)).toEqual([
      HOSTILE,
      'news@acme.test',
    ])
    const short = await got('/domains/acme.test?history_limit=1&complaint_limit=1')
    expect([short.history.length, short.complaints.length]).toEqual([1, 1])
  })

  it('is empty when the domain has sent nothing', async () => {
    await app.hostedDomain(acme, { domain: 'quiet.test', dkim_enabled: false })
    expect(await got('/domains/quiet.test')).toEqual({
      domain: 'quiet.test',
      current: null,
      history: [],
      complaints: [],
    })
  })
})

describe('the list of IP reputations', () => {
  const listed = async (query: string) =>
    (await got(`/ips${query}`)).items.map(({ ip_address }: { ip_address: string }) => ip_address)

  it('is sorted worst first, with scores of two decimals', async () => {
    const { items } = await got('/ips')
    expect(items[0]).toEqual({
      id: expect.any(String),
      ip_address: '203.0.113.9',
      reputation_score: 12.35,
      total_connections: 0,
      total_messages: 0,
      spam_count: 0,
      bounce_count: 0,
      auth_failure_count: 0,
      first_seen: '2026-06-20T00:00:00.000Z',
      last_seen: '2026-06-20T00:00:00.000Z',
      is_blocked: false,
      blocked_reason: null,
      blocked_until: null,
      updated_at: '2026-06-20T00:00:00.000Z',
    })
  })

  it.each([
    ['?is_blocked=true', ['2001:db8::9', '203.0.113.10']],
    ['?is_blocked=false', ['203.0.113.9', '198.51.100.1']],
    ['?min_score=50&max_score=70', ['2001:db8::9', '203.0.113.10']],
    ['?q=203.0', ['203.0.113.9', '203.0.113.10']],
    ['?q=DB8', ['2001:db8::9']],
    ['?q=%25', []],
    ['?sort_dir=desc&per_page=1', ['198.51.100.1']],
  ])('is filtered and sorted by the query "%s"', async (query, addresses) => {
    expect(await listed(query)).toEqual(addresses)
  })

  it('includes the reason and end of a block that is still active', async () => {
    const { items } = await got('/ips?sort_by=ip_address')
    const why = items.map((row: Record<string, unknown>) => [row.blocked_reason, row.blocked_until])
    expect(why).toEqual([
      [null, null],
      ['operator', '2126-01-01T00:00:00.000Z'],
      ['Listed by bl.test', null],
      [null, null],
    ])
  })

  it('has exact counts, and last_seen to the minute', async () => {
    const first = new Date('2026-06-21T12:00:00.000Z')
    for (const seconds of [0, 40, 80, 81]) {
      const news = ipNews()
      news.mail('192.0.2.77', { messages: 2, bounces: 1 })
      const at = new Date(first.getTime() + seconds * 1000)
      await app.core.db.transaction().execute((tx) => record(tx, news.take(), at))
    }
    const { items } = await got('/ips?q=192.0.2.77')
    expect(items).toMatchObject([
      {
        total_messages: 8,
        bounce_count: 4,
        first_seen: first.toISOString(),
        last_seen: '2026-06-21T12:01:20.000Z',
        updated_at: '2026-06-21T12:01:21.000Z',
      },
    ])
    await app.core.db.deleteFrom('ip_reputation').where('ip_address', '=', '192.0.2.77').execute()
  })
})

describe('the list of feedback reports', () => {
  const senders = async (query: string) =>
    (await got(`/feedback-loops${query}`)).items.map(({ sender }: { sender: string }) => sender)

  it('is sorted newest first and omits internal columns', async () => {
    const { items } = await got('/feedback-loops')
    expect(items.at(-1)).toEqual({
      id: expect.any(String),
      original_recipient: 'ada@far.test',
      complaint_recipient: null,
      organization_id: acme.organizationId,
      isp_name: 'ISP.test',
      feedback_type: 'abuse',
      email_id: '1@acme.test',
      subject: HOSTILE,
      sender: 'news@acme.test',
      processed: true,
      suppression_added: true,
      created_at: '2026-06-01T10:00:00.000Z',
      processed_at: '2026-06-01T10:00:00.000Z',
    })
  })

  it.each([
    ['?domain=ACME.test', [HOSTILE, 'news@acme.test']],
    ['?domain=nowhere', []],
    ['?provider=isp.TEST', ['news@acme.test']],
    ['?feedback_type=Fraud', ['a@globex.test', HOSTILE]],
    ['?processed=true', ['news@acme.test']],
    ['?date_from=2026-06-03', ['a@globex.test']],
    ['?date_to=2026-06-03&date_from=2026-06-02', ['a@globex.test', HOSTILE]],
    ['?date_to=2026-06-02T09:59:59Z', ['news@acme.test']],
    ['?q=NEWS', ['news@acme.test']],
    ['?q=%25_%5C', [HOSTILE]],
    ['?sort_dir=asc&per_page=1', ['news@acme.test']],
    ['?organization_id=%27%20or%201%3D1', []],
  ])('is filtered and sorted by the query "%s"', async (query, expected) => {
    expect(await senders(query)).toEqual(expected)
  })

  it('is filtered by organization', async () => {
    const query = `?organization_id=${globex.organizationId}`
    expect(await senders(query)).toEqual(['a@globex.test'])
  })
})

describe('the reputation summary', () => {
  it('contains every day, with a null rate when nothing was delivered', async () => {
    const now = app.clock.now()
    await storeMail(app, [
      {
        sender: 'a@acme.test',
        recipient: 'b@far.test',
        status: 'sent',
        at: now,
        organizationId: acme.organizationId,
      },
    ])
    await app.core.db.transaction().execute(async (tx) => {
      const row = { organization_id: acme.organizationId, reason: null, source: null }
      await suppress(tx, 'COMPLAINT', [{ ...row, email: 'ada@far.test' }], now)
      await suppress(tx, 'BOUNCE', [{ ...row, email: 'old@far.test' }], new Date(0))
    })
    const data = await got(`/summary?days=2&organization_id=${acme.organizationId}`)
    const today = now.toISOString().slice(0, 10)
    expect(data.complaint_trend).toMatchObject([
      { complaints: 0, delivered: 0, complained: 0, complaint_rate: null },
      { date: today, complaints: 0, delivered: 1, complained: 0, complaint_rate: 0 },
    ])
    expect(data.worst_domains).toMatchObject([{ domain: 'acme.test', overall_score: 80.5 }])
    expect(data.worst_ips[0]).toMatchObject({ ip_address: '203.0.113.9' })
    expect(data.suppressions).toEqual({
      total: 1,
      by_type: { BOUNCE: 0, COMPLAINT: 1, UNSUBSCRIBE: 0, MANUAL: 0 },
    })
    const others = await got(`/summary?days=365&organization_id=${globex.organizationId}`)
    expect(others.complaint_trend.length).toBe(365)
    expect(others.suppressions.total).toBe(0)
    expect(others.complaint_trend.every((day: { delivered: number }) => day.delivered === 0)).toBe(
      true,
    )
  })
})
