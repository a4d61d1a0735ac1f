import { afterEach, beforeEach, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../../test/support/app.ts'
import { storeMail } from '../../../test/support/traffic.ts'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'
import { foldTraffic } from '../analytics/analytics.jobs.ts'
import { forgetReputation, scoreHoursAndDays, scoreWeeksAndMonths } from './reputation.jobs.ts'

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

it('stores no reputation score for a domain that sent nothing', async () => {
  await score()
  expect(await domains()).toEqual([])
})

it('scores a domain in every period, before and after traffic is folded', async () => {
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

it('computes the trend from the previous period, also after late log lines', async () => {
  await sends('sent', 10)
  await score()
  app.clock.advance(DAY_MS)
  support = await app.operator('support')
  await sends('sent', 9)
  await sends('bounced', 1)
  await score()
  expect(await domains()).toMatchObject([{ overall_score: 60, trend: -40 }])
  // A late log line counts for the day of its timestamp.
  await sends('bounced', 10, new Date(app.clock.now().getTime() - DAY_MS))
  await score()
  expect(await domains()).toMatchObject([{ overall_score: 60, trend: 0 }])
  const { body } = await support.get('/api/v1/reputation/domains/acme.test')
  expect(body.data.history).toMatchObject([{ trend: 0 }, { trend: null, emails_sent: 20 }])
})

it('emits a rating change once, and none for fewer than 10 messages', async () => {
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

it('deletes old reputation periods, but never the newest', async () => {
  await sends('sent', 1)
  await score()
  app.clock.advance(2 * HOUR_MS)
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
