import { afterEach, beforeEach, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../../test/support/app.ts'
import { storeMail } from '../../../test/support/traffic.ts'
import { foldTraffic } from '../analytics/analytics.jobs.ts'
import { forgetReputation, scoreHoursAndDays, scoreWeeksAndMonths } from './reputation.jobs.ts'

const DAY_MS = 24 * 60 * 60 * 1000

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let support: Awaited<ReturnType<App['operator']>>
beforeEach(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  support = await app.operator('support')
})
afterEach(() => app.stop())

const sends = (status: string, count: number, at = app.clock.now()) =>
  storeMail(
    app,
    Array.from({ length: count }, (_, nth) => ({
      sender: 'news@acme.test',
      recipient: `r${nth}@far.test`,
      status,
      at,
      organizationId: acme.organizationId,
    })),
  )
const complain = (recipient: string) =>
  app.send('POST', '/api/tracking/complaint', {
    body: { recipient, organization_id: acme.organizationId, domain_id: acme.domainId },
    headers: { 'x-internal-token': INTERNAL_TOKEN },
  })
const score = async () => {
  await scoreHoursAndDays.run(app.core)
  await scoreWeeksAndMonths.run(app.core)
}
const domains = async (query = '') =>
  (await support.get(`/api/v1/reputation/domains${query}`)).body.data.items
const changes = async () =>
  (
    await app.core.db
      .selectFrom('events')
      .select(['data', 'org_id'])
      .where('event', '=', 'optimizer.reputation.changed')
      .orderBy('id')
      .execute()
  ).map(({ data, org_id }) => ({ ...(data as object), org_id }))

it('has nothing to say of a domain that sent nothing', async () => {
  await score()
  expect(await domains()).toEqual([])
})

it('scores what was sent, in every period, before and after it is added up', async () => {
  await sends('sent', 18)
  await sends('bounced', 2)
  await complain('r1@far.test')
  const expected = {
    domain: 'acme.test',
    overall_score: 10,
    deliverability_score: 90,
    emails_sent: 20,
    emails_delivered: 18,
    emails_bounced: 2,
    emails_complained: 1,
    isp_data: { complaints: { 'far.test': 1 } },
    trend: null,
  }
  for (const round of ['pending', 'added up']) {
    await score()
    for (const period of ['hourly', 'daily', 'weekly', 'monthly']) {
      const rows = await domains(`?period_type=${period}`)
      expect([round, period, rows]).toMatchObject([
        round,
        period,
        [{ ...expected, period_type: period.toUpperCase() }],
      ])
    }
    await foldTraffic.round(app.core)
  }
})

it('compares with the period before, also one that ended late', async () => {
  await sends('sent', 10)
  await score()
  app.clock.advance(DAY_MS)
  support = await app.operator('support')
  await sends('sent', 9)
  await sends('bounced', 1)
  await score()
  expect(await domains()).toMatchObject([{ overall_score: 60, trend: -40 }])
  // What the log told late belongs to the day on which it happened.
  await sends('bounced', 10, new Date(app.clock.now().getTime() - DAY_MS))
  await score()
  expect(await domains()).toMatchObject([{ overall_score: 60, trend: 0 }])
  const { body } = await support.get('/api/v1/reputation/domains/acme.test')
  expect(body.data.history).toMatchObject([{ trend: 0 }, { trend: null, emails_sent: 20 }])
})

it('tells of another rating once, and not of a little bad luck', async () => {
  await sends('bounced', 5)
  await score()
  expect(await changes()).toEqual([])
  await sends('sent', 5)
  await score()
  await score()
  expect(await changes()).toEqual([
    {
      org_id: acme.organizationId,
      domain: 'acme.test',
      old_score: 100,
      new_score: 60,
      rating: 'fair',
      bounce_rate: 0.5,
      complaint_rate: 0,
    },
  ])
  await sends('sent', 990)
  await score()
  expect((await changes()).at(-1)).toMatchObject({
    old_score: 60,
    new_score: 98,
    rating: 'excellent',
  })
})

it('forgets hours after a month and days after a year, but never the newest', async () => {
  await sends('sent', 1)
  await score()
  app.clock.advance(2 * 60 * 60 * 1000)
  await sends('sent', 1)
  await score()
  app.clock.advance(500 * DAY_MS)
  await forgetReputation.run(app.core)
  const kept = await app.core.db
    .selectFrom('domain_reputation')
    .select(['is_newest'])
    .where('period_type', '=', 'HOURLY')
    .execute()
  expect(kept).toEqual([{ is_newest: true }])
})
