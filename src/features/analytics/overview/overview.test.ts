import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { storeMail } from '../../../../test/support/traffic.ts'
import type { Core } from '../../../core.ts'
import { DAY_MS, MINUTE_MS } from '../../../lib/time.ts'
import { foldTraffic } from '../analytics.jobs.ts'
import { statistics } from './index.ts'

/** The service `dashboard` without its pages, which exist after a build only. */
const figures = {
  start: async (core: Core) => ({ features: [statistics(core)], async stop() {} }),
}

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({ daemons: [figures] })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  const at = (ms: number) => new Date(app.clock.now().getTime() - ms)
  const mail = (tenant: typeof acme, status: string, when: Date) => ({
    sender: tenant.email,
    recipient: 'x@far.test',
    status,
    at: when,
    organizationId: tenant.organizationId,
  })
  await storeMail(app, [
    mail(acme, 'delivered', at(2 * DAY_MS)),
    mail(acme, 'bounced', at(2 * DAY_MS)),
    mail(acme, 'delivered', at(MINUTE_MS)),
    mail(acme, 'delivered', at(40 * DAY_MS)),
    mail(globex, 'delivered', at(MINUTE_MS)),
  ])
})
afterAll(() => app.stop())

const read = async (client: Pick<typeof acme, 'get'>, path: string) => {
  const answer = await client.get(`/api/stats/${path}`)
  expect(answer.status, answer.text).toBe(200)
  expect(answer.body.success).toBe(true)
  return answer.body.data
}
interface Day {
  date: string
  sent_count: number
}
const sent = (days: Day[]) => days.reduce((sum, { sent_count }) => sum + sent_count, 0)

it('requires a credential, and refuses the session of a mailbox', async () => {
  for (const path of ['overview', 'domains', 'realtime']) {
    expect((await app.send('GET', `/api/stats/${path}`)).status).toBe(401)
    const holder = await app.session('mailbox', acme.accountId)
    expect((await holder.get(`/api/stats/${path}`)).status).toBe(401)
  }
  for (const days of ['0', '366', 'x']) {
    expect((await acme.get(`/api/stats/overview?days=${days}`)).status).toBe(422)
  }
})

it('shows a dashboard session the days of its own organization alone', async () => {
  const user = await app.session('dashboard', acme.userId)
  for (const isFolded of [false, true]) {
    if (isFolded) while (await foldTraffic.round(app.core)) {}
    const { daily, tracking, days } = await read(user, 'overview')
    expect(days).toBe(30)
    expect(sent(daily)).toBe(3)
    const date = new Date(app.clock.now().getTime() - 2 * DAY_MS).toISOString().slice(0, 10)
    expect(daily.find((day: Day) => day.date === date)).toMatchObject({
      sent_count: 2,
      delivered_count: 1,
      bounced_count: 1,
    })
    expect(tracking).toEqual({
      tracked_emails: 0,
      total_opens: 0,
      unique_opens: 0,
      total_clicks: 0,
      unique_clicks: 0,
    })
  }
  expect(sent((await read(user, 'overview?days=60')).daily)).toBe(4)
  expect((await read(user, 'domains')).domains).toMatchObject([
    { domain: 'acme.test', sent_count: 3, delivered_count: 2, bounced_count: 1 },
  ])
})

it('shows an operator all organizations', async () => {
  const operator = await app.operator('support')
  expect(sent((await read(operator, 'overview')).daily)).toBe(4)
  const { domains } = await read(operator, 'domains')
  expect(domains.map(({ domain }: { domain: string }) => domain)).toEqual([
    'acme.test',
    'globex.test',
  ])
})

it('shows the last hours by quarters', async () => {
  expect(sent((await read(acme, 'realtime')).quarters)).toBe(1)
  expect(sent((await read(globex, 'realtime')).quarters)).toBe(1)
  expect(sent((await read(await app.operator('owner'), 'realtime')).quarters)).toBe(2)
})

it('counts opens and clicks, with each recipient once', async () => {
  const { db } = app.core
  const row = {
    organization_id: acme.organizationId,
    domain: 'acme.test',
    bucket: new Date(Math.floor(app.clock.now().getTime() / 900_000) * 900_000).toISOString(),
  }
  await db
    .insertInto('engagement_pending')
    .values([
      { ...row, event_type: 'opened', recipient_key: 1 },
      { ...row, event_type: 'opened', recipient_key: 1 },
      { ...row, event_type: 'opened', recipient_key: 2 },
      { ...row, event_type: 'clicked', recipient_key: 1 },
    ])
    .execute()
  const tracking = { total_opens: 3, unique_opens: 2, total_clicks: 1, unique_clicks: 1 }
  expect((await read(acme, 'overview')).tracking).toMatchObject(tracking)
  while (await foldTraffic.round(app.core)) {}
  expect((await read(acme, 'overview')).tracking).toMatchObject(tracking)
  expect((await read(globex, 'overview')).tracking).toMatchObject({ total_opens: 0 })
})
