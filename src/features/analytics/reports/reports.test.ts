import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { startSink } from '../../../../test/support/smtp-sink.ts'
import { storeMail } from '../../../../test/support/traffic.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { deleteOldReports } from '../analytics.jobs.ts'
import { scheduleRunner } from './run-schedules.ts'

const DAY_MS = 24 * 60 * 60_000

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let sink: Awaited<ReturnType<typeof startSink>>
beforeAll(async () => {
  sink = await startSink()
  app = await startApp({
    env: {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(sink.port),
      SVC_OUTBOUND_ALLOW: '127.0.0.1/32',
    },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})

const path = '/api/v1/analytics/reports'
const generate = (body: object, who = acme) => who.post(`${path}/generate`, body)
const schedule = (body: object, who = acme) => who.post(`${path}/scheduled`, body)
const listed = async (id: string, who = acme) => {
  const { body } = await who.get(`${path}/scheduled`)
  return body.data.schedules.find((one: { schedule_id: string }) => one.schedule_id === id)
}
async function runDue(): Promise<number> {
  const runner = scheduleRunner(app.core)
  const runs = await runner.runDue()
  await runner.close()
  return runs
}

describe('a report', () => {
  it.each([
    [{}, 400, 'Missing domain'],
    [{ domain: ' ' }, 400, 'Missing domain'],
    [
      { domain: 'acme.test', report_type: 'gossip' },
      400,
      "Unknown report_type 'gossip'; there are:",
    ],
    [{ domain: 'globex.test' }, 404, 'Domain not found'],
    [{ domain: 'nowhere.test' }, 404, 'Domain not found'],
    [{ domain: 'acme.test', days: 366 }, 422, ''],
    [{ domain: 'acme.test', timezone: 'Mars/Olympus' }, 422, 'timezone must be a name'],
  ])('is not generated from %j', async (body, status, msg) => {
    const answer = await generate(body)
    expect(answer.status).toBe(status)
    expect(answer.body.msg).toContain(msg)
  })

  it.each(['dashboard', 'email-volume', 'engagement', 'deliverability', 'metrics'])(
    'of the kind %s has what its route answers, and is read again',
    async (report_type) => {
      const { status, body } = await generate({ domain: 'ACME.test', report_type, days: 7 })
      expect(status).toBe(200)
      expect(body.data).toMatchObject({
        report_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        report_type,
        domain: 'acme.test',
        period_days: 7,
        status: 'completed',
      })
      const live = await acme.get(`/api/v1/analytics/${report_type}/acme.test?days=7`)
      const { generated_at: _, ...figures } = live.body.data
      expect(body.data.data).toMatchObject(figures)
      const again = await acme.get(`${path}/${body.data.report_id}`)
      expect(again.body.data).toEqual(body.data)
    },
  )

  it('can be had with a key that may only read', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    const { status } = await reader.post(`${path}/generate`, { domain: 'acme.test' })
    expect(status).toBe(200)
  })

  it("is not there for another tenant, and is the platform's to read", async () => {
    const { report_id } = (await generate({ domain: 'acme.test' })).body.data
    const foreign = await globex.get(`${path}/${report_id}`)
    expect(foreign).toMatchObject({ status: 404, body: { msg: 'Report not found or expired' } })
    const operator = await app.operator('support')
    expect((await operator.get(`${path}/${report_id}`)).status).toBe(200)
  })

  it('is over after 90 days, and deleted', async () => {
    const { report_id } = (await generate({ domain: 'acme.test' })).body.data
    const age = (days: number) =>
      app.core.db
        .updateTable('analytics_reports')
        .set({ generated_at: new Date(app.clock.now().getTime() - days * DAY_MS).toISOString() })
        .where('report_id', '=', report_id)
        .execute()
    await age(89.9)
    await deleteOldReports.run(app.core)
    expect((await acme.get(`${path}/${report_id}`)).status).toBe(200)
    await age(90.1)
    expect((await acme.get(`${path}/${report_id}`)).status).toBe(404)
    await deleteOldReports.run(app.core)
    const left = await app.core.db
      .selectFrom('analytics_reports')
      .select('report_id')
      .where('report_id', '=', report_id)
      .execute()
    expect(left).toEqual([])
  })
})

describe('a schedule', () => {
  it.each([
    [{}, 400, 'Missing domain'],
    [{ domain: 'globex.test' }, 404, 'Domain not found'],
    [{ domain: 'acme.test', interval: 'hourly' }, 422, ''],
    [{ domain: 'acme.test', report_type: 'gossip' }, 422, ''],
    [{ domain: 'acme.test', recipients: ['nobody'] }, 422, ''],
    [{ domain: 'acme.test', timezone: 'Mars/Olympus' }, 422, 'Must be a name'],
    [{ domain: 'acme.test', webhook_url: 'ftp://x.test/' }, 422, 'must start with http'],
    [{ domain: 'acme.test', webhook_url: 'http://169.254.169.254/' }, 422, 'Refused'],
  ])('is not made of %j', async (body, status, msg) => {
    const answer = await schedule(body)
    expect(answer.status).toBe(status)
    expect(answer.body.msg).toContain(msg)
  })

  it("is its maker's, whatever organization was named", async () => {
    const organization_id = globex.organizationId
    const { status, body } = await schedule({ domain: 'acme.test', organization_id })
    expect(status).toBe(201)
    expect(body.data).toEqual({
      schedule_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      organization_id: acme.organizationId,
      domain: 'acme.test',
      report_type: 'dashboard',
      interval: 'weekly',
      recipients: [],
      timezone: 'UTC',
      webhook_url: null,
      created_at: expect.any(String),
      last_run_at: null,
    })
    expect(await listed(body.data.schedule_id, globex)).toBeUndefined()
    const asked = await globex.get(`${path}/scheduled?organization_id=${acme.organizationId}`)
    expect(asked.body.data).toEqual({ schedules: [], count: 0 })
  })

  it('of a platform caller names whom it is for', async () => {
    const key = await app.key(null, { scope: 'platform' })
    const without = await key.post(`${path}/scheduled`, { domain: 'acme.test' })
    expect(without).toMatchObject({ status: 400, body: { msg: 'Missing organization_id' } })
    const wrong = { domain: 'acme.test', organization_id: globex.organizationId }
    expect((await key.post(`${path}/scheduled`, wrong)).status).toBe(404)
    const right = { domain: 'acme.test', organization_id: acme.organizationId }
    expect((await key.post(`${path}/scheduled`, right)).status).toBe(201)
  })

  it('says what went wrong, and waits for its next time', async () => {
    const { schedule_id } = (await schedule({ domain: 'acme.test', interval: 'daily' })).body.data
    await runDue()
    expect(await listed(schedule_id)).toMatchObject({
      last_run_at: expect.any(String),
      last_error: 'no recipients configured',
    })
    const lastRun = (await listed(schedule_id)).last_run_at
    await runDue()
    expect((await listed(schedule_id)).last_run_at).toBe(lastRun)
  })

  it('sends a week of figures by mail, and keeps them', async () => {
    const recent = new Date(app.clock.now().getTime() - DAY_MS)
    const old = new Date(app.clock.now().getTime() - 8 * DAY_MS)
    await storeMail(
      app,
      [recent, old].map((at) => ({
        sender: 'a@acme.test',
        recipient: 'b@elsewhere.test',
        status: 'delivered',
        at,
        organizationId: acme.organizationId,
      })),
    )
    const recipients = ['Jane@Elsewhere.test', 'jane@elsewhere.test', 'joe@elsewhere.test']
    const made = await schedule({ domain: 'acme.test', interval: 'daily', recipients })
    await runDue()
    const [mail, ...more] = sink.to('jane@elsewhere.test')
    expect(more).toEqual([])
    expect(mail?.to).toEqual(['jane@elsewhere.test', 'joe@elsewhere.test'])
    expect(mail?.data).toContain('Subject: Report dashboard of acme.test')
    expect(mail?.data).toContain('"period_days": 7')
    expect(mail?.data).toContain('"total_sent": 1')
    const reportId = /Report id: ([0-9a-f-]{36})/.exec(mail?.data ?? '')?.[1]
    expect((await acme.get(`${path}/${reportId}`)).body.data.data.total_sent).toBe(1)
    expect(await listed(made.body.data.schedule_id)).toMatchObject({ last_error: null })

    app.clock.advance(DAY_MS)
    await runDue()
    await waitFor(() => sink.to('jane@elsewhere.test').length === 2)
  })

  it('posts what it signs, and tells a receiver that refuses', async () => {
    const receiver = await startReceiver()
    const { data } = (await schedule({ domain: 'acme.test', webhook_url: receiver.url })).body
    expect(JSON.stringify(await listed(data.schedule_id))).not.toContain(data.webhook_secret)
    await runDue()
    const [got] = receiver.got
    const { headers, body, json } = got as NonNullable<typeof got>
    expect(json).toMatchObject({ schedule_id: data.schedule_id, domain: 'acme.test' })
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
    const signature = createHmac('sha256', data.webhook_secret).update(signed).digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${signature}`)
    expect(await listed(data.schedule_id)).toMatchObject({ last_error: null })

    receiver.state.reply = (_received, response) => response.writeHead(500).end('x'.repeat(400))
    app.clock.advance(7 * DAY_MS)
    await runDue()
    const { last_error } = await listed(data.schedule_id)
    expect(last_error).toMatch(/^webhook: HTTP 500/)
    expect(last_error.length).toBeLessThanOrEqual(300)
    await receiver.stop()
  })

  it('is run once among many runners', async () => {
    await runDue()
    const names = Array.from({ length: 12 }, (_, n) => `many-${n}@elsewhere.test`)
    for (const name of names) {
      expect((await schedule({ domain: 'acme.test', recipients: [name] })).status).toBe(201)
    }
    const runs = await Promise.all([runDue(), runDue(), runDue()])
    expect(runs.reduce((sum, count) => sum + count)).toBe(names.length)
    expect(names.map((name) => sink.to(name).length)).toEqual(names.map(() => 1))
  })

  it('is done again when whoever was at it says nothing more, and not before', async () => {
    const made = await schedule({ domain: 'acme.test', recipients: ['again@elsewhere.test'] })
    const { schedule_id } = made.body.data
    const claim = (seconds: number) =>
      sql`update analytics_schedules set claimed_by = 'somebody who was killed',
        claimed_until = now() + make_interval(secs => ${seconds})
        where schedule_id = ${schedule_id}`.execute(app.core.db)
    await claim(5)
    await runDue()
    expect(sink.to('again@elsewhere.test')).toHaveLength(0)
    await claim(-1)
    await runDue()
    expect(sink.to('again@elsewhere.test')).toHaveLength(1)
  })

  it('fails in words when its domain is gone', async () => {
    const lone = await app.tenant('leaving')
    const made = await schedule({ domain: 'leaving.test', recipients: ['x@elsewhere.test'] }, lone)
    await sql`update domains set domain = 'left.test' where domain = 'leaving.test'`.execute(
      app.core.db,
    )
    await runDue()
    expect(await listed(made.body.data.schedule_id, lone)).toMatchObject({
      last_error: 'Domain not found',
    })
  })
})
