import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { chance, storeMail } from '../../../test/support/traffic.ts'
import { countEngagement, type EngagementEvent } from '../../hosting/engagement.repository.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/time.ts'
import { deleteOldQuarters, foldTraffic } from './analytics.jobs.ts'

const QUARTER_MS = 15 * MINUTE_MS
const TYPES = [
  'opened',
  'opened',
  'opened',
  'clicked',
  'clicked',
  'unsubscribed',
  'complained',
] as const

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

const count = (events: EngagementEvent[]) =>
  app.core.db.transaction().execute((tx) => countEngagement(tx, events))
const read = async (path: string) => (await acme.get(`/api/v1/analytics/${path}`)).body.data

it('counts engagement events and distinct recipients, also for late events', async () => {
  const random = chance(5)
  const all: EngagementEvent[] = []
  for (let round = 0; round < 12; round++) {
    // Events arrive out of order, so the last event is not always the newest.
    const events = Array.from({ length: 60 }, () => ({
      organization_id: acme.organizationId,
      domain: 'acme.test',
      recipient: `${random(2) ? 'R' : 'r'}${random(40)}@elsewhere.test`,
      event_type: TYPES[random(7)] as EngagementEvent['event_type'],
      automated: random(5) === 0,
      created_at: new Date(
        app.clock.now().getTime() - random(90 * 24 * 60) * MINUTE_MS,
      ).toISOString(),
    }))
    all.push(...events)
    await count(events)
    if (round % 3 === 2) await foldTraffic.round(app.core)
    if (round % 3 === 1) await expectEqual()
  }
  await expectEqual()
  await foldTraffic.round(app.core)
  await expectEqual()

  async function expectEqual() {
    for (const days of [1, 7, 30, 60, 365]) {
      const from = Math.floor((app.clock.now().getTime() - days * DAY_MS) / QUARTER_MS) * QUARTER_MS
      const meant = all.filter(
        ({ automated, created_at }) => !automated && new Date(created_at).getTime() >= from,
      )
      const of = (type: string) => meant.filter(({ event_type }) => event_type === type)
      const distinct = (type: string) =>
        new Set(of(type).map(({ recipient }) => recipient.toLowerCase())).size
      expect(await read(`engagement/acme.test?days=${days}`), `${days} days`).toMatchObject({
        opens: of('opened').length,
        clicks: of('clicked').length,
        unique_opens: distinct('opened'),
        unique_clicks: distinct('clicked'),
      })
      expect(await read(`dashboard/acme.test?days=${days}`)).toMatchObject({
        opened: of('opened').length,
        clicked: of('clicked').length,
        unsubscribed: of('unsubscribed').length,
        complained: of('complained').length,
      })
    }
    // A period of whole days in the past.
    const day = (ago: number) =>
      new Date(app.clock.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10)
    const [first, last] = [day(50), day(20)]
    const openers = all.filter(
      ({ automated, event_type, created_at }) =>
        !automated &&
        event_type === 'opened' &&
        created_at.slice(0, 10) >= first &&
        created_at.slice(0, 10) <= last,
    )
    const past = await read(`engagement/acme.test?start=${first}&end=${last}`)
    expect(past.unique_opens).toBe(
      new Set(openers.map(({ recipient }) => recipient.toLowerCase())).size,
    )
    expect(past.opens).toBe(openers.length)
  }
})

it('computes open and click rates from the delivered messages', async () => {
  const tenant = await app.tenant('rated')
  const at = new Date(app.clock.now().getTime() - DAY_MS)
  const to = (n: number) => `r${n}@elsewhere.test`
  await storeMail(
    app,
    Array.from({ length: 3 }, (_, n) => ({
      sender: 'a@rated.test',
      recipient: to(n),
      status: 'delivered',
      at,
      organizationId: tenant.organizationId,
      spamScore: n,
    })),
  )
  const event = (event_type: EngagementEvent['event_type'], recipient: string) => ({
    organization_id: tenant.organizationId,
    domain: 'rated.test',
    recipient,
    event_type,
    automated: false,
    created_at: app.clock.now().toISOString(),
  })
  await count([event('opened', to(0)), event('opened', to(0)), event('opened', to(1))])
  await count([event('clicked', to(0)), event('complained', to(2))])
  const { body } = await tenant.get('/api/v1/analytics/engagement/rated.test')
  expect(body.data).toMatchObject({
    delivered: 3,
    opens: 3,
    unique_opens: 2,
    unique_clicks: 1,
    open_rate: 66.67,
    click_rate: 33.33,
    click_to_open_rate: 33.33,
  })
  const { data } = (await tenant.get('/api/v1/analytics/deliverability/rated.test')).body
  expect(data).toMatchObject({
    total_sent: 3,
    bounce_rate: 0,
    complaints: 1,
    complaint_rate: 33.3333,
    average_spam_score: 1,
  })
})

it('deletes old engagement quarters and recipients, and keeps daily counts', async () => {
  const { db } = app.core
  const event = (created_at: Date) => ({
    organization_id: acme.organizationId,
    domain: 'acme.test',
    recipient: 'old@elsewhere.test',
    event_type: 'opened' as const,
    automated: false,
    created_at: created_at.toISOString(),
  })
  const old = new Date(app.clock.now().getTime() - 500 * DAY_MS)
  await count([event(old)])
  await foldTraffic.round(app.core)
  await deleteOldQuarters.run(app.core)
  const left = await sql<{ table: string; rows: number }>`
    select 'quarters' as table, count(*) as rows from engagement_quarters where bucket < ${old.toISOString()}::timestamptz + interval '1 day'
    union all select 'days', count(*) from engagement_days where bucket < ${old.toISOString()}::timestamptz + interval '1 day'
    union all select 'recipients', count(*) from engagement_recipients where day < (${old.toISOString()}::timestamptz + interval '1 day')::date`.execute(
    db,
  )
  expect(Object.fromEntries(left.rows.map(({ table, rows }) => [table, rows]))).toEqual({
    quarters: 0,
    days: 1,
    recipients: 0,
  })
})
