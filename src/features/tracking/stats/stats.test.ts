import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../../../test/support/app.ts'
import { BROWSER, trackedMessage } from '../../../../test/support/tracked.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let platform: Awaited<ReturnType<App['key']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  platform = await app.key(null, { scope: 'platform' })
})
afterAll(() => app.stop())

const visit = (path: string, agent = BROWSER) =>
  app.send('GET', path, { from: newIp(), headers: { 'user-agent': agent } })
const stored = (emailId: string, count: number) =>
  waitFor(async () => {
    const { total } = await app.core.db
      .selectFrom('tracking_events')
      .select(({ fn }) => fn.countAll<number>().as('total'))
      .where('email_id', '=', emailId)
      .executeTakeFirstOrThrow()
    return Number(total) === count
  })
const logged = (sender: string, status: 'delivered' | 'bounced', daysAgo = 1) =>
  app.core.db
    .insertInto('mail_log')
    .values({
      id: ulid(),
      timestamp: new Date(app.clock.now().getTime() - daysAgo * DAY_MS).toISOString(),
      sender,
      recipient: 'jane@far.test',
      organization_id: acme.organizationId,
      status,
    })
    .execute()

describe('the tracking statistics of a domain', () => {
  it('are zeros without events', async () => {
    const { status, body } = await globex.get(`/api/v1/tracking/stats/domain/${globex.domain}`)
    expect({ status, msg: body.msg }).toEqual({
      status: 200,
      msg: 'Domain statistics retrieved successfully',
    })
    const { start_date, end_date, generated_at, ...rest } = body.data
    expect(rest).toEqual({
      domain: globex.domain,
      domain_id: globex.domainId,
      period_days: 30,
      event_statistics: {},
      total_sent: 0,
      total_opens: 0,
      total_clicks: 0,
    })
    expect(Date.parse(end_date) - Date.parse(start_date)).toBe(30 * DAY_MS)
    expect(generated_at).toBe(end_date)
  })

  it('count human and automated events separately, and deliveries from the mail log', async () => {
    const one = await trackedMessage(app, acme, { links: ['https://shop.test/'] })
    const other = await trackedMessage(app, acme, { recipient: one.recipient })
    await visit(one.pixel)
    await visit(one.pixel)
    await visit(other.pixel)
    await visit(other.pixel, 'curl/8.5.0')
    await visit(one.link(0))
    await stored(one.emailId, 3)
    await stored(other.emailId, 2)
    await logged('app@acme.test', 'delivered')
    await logged('App@ACME.test', 'delivered')
    await logged('app@acme.test', 'bounced')
    await logged('app@other.test', 'delivered')
    await logged('app@acme.test', 'delivered', 40)

    const { body } = await acme.get(`/api/v1/tracking/stats/domain/${acme.domain.toUpperCase()}`)
    expect(body.data).toMatchObject({
      event_statistics: {
        opened: { total: 3, unique_emails: 2, unique_recipients: 1, automated: 1 },
        clicked: { total: 1, unique_emails: 1, unique_recipients: 1, automated: 0 },
      },
      total_sent: 2,
      total_opens: 3,
      total_clicks: 1,
    })
    const longer = await acme.get(`/api/v1/tracking/stats/domain/${acme.domain}?days=60`)
    expect(longer.body.data).toMatchObject({ period_days: 60, total_sent: 3 })
    const all = await platform.get(`/api/v1/tracking/stats/domain/${acme.domain}`)
    expect(all.body.data.total_opens).toBe(3)
  })

  it.each(['0', '366', 'x'])('return 422 for days=%s', async (days) => {
    const answer = await acme.get(`/api/v1/tracking/stats/domain/${acme.domain}?days=${days}`)
    expect(answer).toMatchObject({ status: 422, body: { type: 'error' } })
  })

  it('return 404 for the domain of another tenant and an unknown domain', async () => {
    for (const [client, domain] of [
      [acme, globex.domain],
      [acme, 'nowhere.test'],
      [platform, 'nowhere.test'],
    ] as const) {
      const answer = await client.get(`/api/v1/tracking/stats/domain/${domain}`)
      expect(answer).toMatchObject({ status: 404, body: { msg: 'Domain not found' } })
    }
  })
})

describe('the tracking statistics of a message', () => {
  it('are empty before the first event', async () => {
    const { emailId } = await trackedMessage(app, acme)
    for (const id of [emailId, `<${emailId}>`]) {
      const { status, body } = await acme.get(
        `/api/v1/tracking/stats/email/${encodeURIComponent(id)}`,
      )
      expect(status).toBe(200)
      expect(body.data).toMatchObject({
        email_id: emailId,
        statistics: {},
        device_breakdown: [],
        geographic_breakdown: [],
        timeline: [],
        message: expect.any(String),
      })
    }
  })

  it('contain events by type and device, and a timeline with the newest first', async () => {
    const message = await trackedMessage(app, acme, { links: ['https://shop.test/'] })
    await visit(message.pixel)
    await visit(message.pixel)
    await visit(message.pixel, 'Mozilla/5.0')
    await stored(message.emailId, 3)
    await visit(message.link(0))
    await stored(message.emailId, 4)
    const { body } = await acme.get(`/api/v1/tracking/stats/email/${message.emailId}`)
    expect(body.data).toMatchObject({
      statistics: {
        opened: { total: 2, unique: 1, unique_ips: 2, automated: 1 },
        clicked: { total: 1, unique: 1, unique_ips: 1, automated: 0 },
      },
      device_breakdown: [
        { device_type: 'desktop', browser: 'Firefox', operating_system: 'Windows', count: 2 },
      ],
    })
    expect(body.data.message).toBeUndefined()
    expect(body.data.timeline).toHaveLength(4)
    expect(body.data.timeline[0]).toMatchObject({
      event_type: 'clicked',
      recipient: message.recipient,
      additional_data: { original_url: 'https://shop.test/' },
    })
  })

  it('return 404 for the message of another tenant and an unknown message', async () => {
    const { emailId } = await trackedMessage(app, globex)
    const foreign = await acme.get(`/api/v1/tracking/stats/email/${emailId}`)
    const absent = await acme.get('/api/v1/tracking/stats/email/nothing')
    expect(foreign).toMatchObject({ status: 404, body: { msg: 'Email not found' } })
    expect(absent).toMatchObject({ status: 404, body: { msg: 'Email not found' } })
    expect((await platform.get(`/api/v1/tracking/stats/email/${emailId}`)).status).toBe(200)
  })
})
