import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, type Client, startApp } from '../../../../test/support/app.ts'
import { startReceiver } from '../../../../test/support/receiver.ts'
import { startSink } from '../../../../test/support/smtp-sink.ts'
import { storeMail } from '../../../../test/support/traffic.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { deleteOldReports } from '../analytics.jobs.ts'
import { scheduleRunner } from './run-schedules.ts'

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

describe('an analytics report', () => {
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
  ])('is rejected for the body %j with %i', async (body, status, msg) => {
    const answer = await generate(body)
    expect(answer.status).toBe(status)
    expect(answer.body.msg).toContain(msg)
  })

  it.each(['dashboard', 'email-volume', 'engagement', 'deliverability', 'metrics'])(
    'of type %s has the figures of its route and can be read again',
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

  it('can be generated with a read-only key', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    const { status } = await reader.post(`${path}/generate`, { domain: 'acme.test' })
    expect(status).toBe(200)
  })

  it('returns 404 to another tenant and is readable for operators', async () => {
    const { report_id } = (await generate({ domain: 'acme.test' })).body.data
    const foreign = await globex.get(`${path}/${report_id}`)
    expect(foreign).toMatchObject({ status: 404, body: { msg: 'Report not found or expired' } })
    const operator = await app.operator('support')
    expect((await operator.get(`${path}/${report_id}`)).status).toBe(200)
  })

  it('expires after 90 days and is deleted', async () => {
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

describe('a report schedule', () => {
  it('can be changed, and its reports cover the time of its interval (B5.7)', async () => {
    const initech = await app.tenant('initech')
    const recipients = ['jane@initech.test']
    const created = await schedule(
      { domain: 'initech.test', interval: 'monthly', recipients },
      initech,
    )
    const { schedule_id } = created.body.data
    const one = `${path}/scheduled/${schedule_id}`
    const periods = async () => {
      sink.got.length = 0
      await runDue()
      return sink.got.map(({ data }) => /Period: (.*)/.exec(data)?.[1]?.trim())
    }
    expect(await periods()).toEqual(['the last 30 days'])
    expect((await initech.put(one, {})).status).toBe(422)
    expect((await initech.put(one, { timezone: 'Mars/Olympus' })).status).toBe(422)
    expect((await initech.put(one, { webhook_url: 'http://10.0.0.1/' })).status).toBe(422)
    expect((await globex.put(one, { interval: 'daily' })).status).toBe(404)
    const changed = await initech.put(one, {
      interval: 'daily',
      recipients: ['Joe@initech.test'],
      webhook_url: 'https://hooks.initech.example/',
    })
    expect(changed).toMatchObject({
      status: 200,
      body: {
        msg: 'Scheduled report updated',
        data: { interval: 'daily', recipients: ['joe@initech.test'], report_type: 'dashboard' },
      },
    })
    expect(changed.body.data.webhook_secret).toMatch(/^[0-9a-f]{64}$/)
    const removed = await initech.put(one, { webhook_url: null })
    expect(removed.body.data).toMatchObject({ webhook_url: null })
    expect(removed.body.data).not.toHaveProperty('webhook_secret')
    // The next run is a day away, not what is left of the month.
    app.clock.advance(DAY_MS)
    expect(await periods()).toEqual(['the last 1 days'])
    app.clock.reset()
  })

  it.each([
    [{}, 400, 'Missing domain'],
    [{ domain: 'globex.test' }, 404, 'Domain not found'],
    [{ domain: 'acme.test', interval: 'hourly' }, 422, ''],
    [{ domain: 'acme.test', report_type: 'gossip' }, 422, ''],
    [{ domain: 'acme.test', recipients: ['nobody'] }, 422, ''],
    [{ domain: 'acme.test', timezone: 'Mars/Olympus' }, 422, 'Must be a name'],
    [{ domain: 'acme.test', webhook_url: 'ftp://x.test/' }, 422, 'must start with http'],
    [{ domain: 'acme.test', webhook_url: 'http://169.254.169.254/' }, 422, 'Refused'],
  ])('is rejected for the body %j with %i', async (body, status, msg) => {
    const answer = await schedule(body)
    expect(answer.status).toBe(status)
    expect(answer.body.msg).toContain(msg)
  })

  it('belongs to the organization of the tenant key, whatever organization_id is sent', async () => {
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

  it('requires the organization_id of the domain from a platform caller', async () => {
    const key = await app.key(null, { scope: 'platform' })
    const without = await key.post(`${path}/scheduled`, { domain: 'acme.test' })
    expect(without).toMatchObject({ status: 400, body: { msg: 'Missing organization_id' } })
    const wrong = { domain: 'acme.test', organization_id: globex.organizationId }
    expect((await key.post(`${path}/scheduled`, wrong)).status).toBe(404)
    const right = { domain: 'acme.test', organization_id: acme.organizationId }
    expect((await key.post(`${path}/scheduled`, right)).status).toBe(201)
  })

  it('stores last_error and waits for its next run', async () => {
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

  it('sends the figures of its interval by e-mail and stores the report', async () => {
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
    expect(mail?.data).toContain('"period_days": 1')
    expect(mail?.data).toContain('"total_sent": 1')
    const reportId = /Report id: ([0-9a-f-]{36})/.exec(mail?.data ?? '')?.[1]
    expect((await acme.get(`${path}/${reportId}`)).body.data.data.total_sent).toBe(1)
    expect(await listed(made.body.data.schedule_id)).toMatchObject({ last_error: null })

    app.clock.advance(DAY_MS)
    await runDue()
    await waitFor(() => sink.to('jane@elsewhere.test').length === 2)
  })

  it('B2.8: is mailed with the brand of its organization, and of no other', async () => {
    const admin = await app.operator('admin')
    const brand = { brand_name: 'Globex Mail', support_email: 'help@globex.test' }
    const put = await admin.put(`/api/v1/whitelabel/config/${globex.organizationId}`, brand)
    expect(put.status).toBe(200)
    for (const tenant of [acme, globex]) {
      const recipients = [`boss@${tenant.domain}.elsewhere.test`]
      await schedule({ domain: tenant.domain, recipients }, tenant)
    }
    await runDue()
    const [branded] = sink.to('boss@globex.test.elsewhere.test')
    expect(branded?.data).toMatch(/^From: "?Globex Mail"? </m)
    expect(branded?.data).toContain('help@globex.test')
    const [plain] = sink.to('boss@acme.test.elsewhere.test')
    expect(plain?.data).toContain('Subject: Report dashboard of acme.test')
    expect(plain?.data).not.toContain('Globex')
  })

  it('posts a signed webhook and stores an error when the receiver returns 500', async () => {
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

  it('has a limit per organization, and its recipients have one over all schedules (S22)', async () => {
    const small = await startApp({ env: { REPORT_MAX_SCHEDULES: '3', REPORT_MAX_RECIPIENTS: '5' } })
    const hooli = await small.tenant('hooli')
    const globex = await small.tenant('globex')
    const to = (count: number) =>
      Array.from({ length: count }, (_, n) => `report-${n}@elsewhere.test`)
    const add = (who: Client, domain: string, recipients: string[]) =>
      who.post(`${path}/scheduled`, { domain, recipients })
    expect((await add(hooli, 'hooli.test', to(3))).status).toBe(201)
    expect(await add(hooli, 'hooli.test', to(3))).toMatchObject({
      status: 409,
      body: {
        msg: 'The scheduled reports of an organization can have 5 recipients in total at most',
      },
    })
    expect((await add(hooli, 'hooli.test', to(2))).status).toBe(201)
    expect((await add(hooli, 'hooli.test', [])).status).toBe(201)
    expect(await add(hooli, 'hooli.test', [])).toMatchObject({
      status: 409,
      body: { msg: 'An organization can have 3 scheduled reports at most; delete one first' },
    })
    expect((await add(globex, 'globex.test', to(5))).status).toBe(201)
    const [first] = (await hooli.get(`${path}/scheduled`)).body.data.schedules
    const gone = `${path}/scheduled/${first.schedule_id}`
    expect((await globex.delete(gone)).status).toBe(404)
    expect((await hooli.delete(gone)).status).toBe(200)
    expect((await hooli.delete(gone)).status).toBe(404)
    expect((await add(hooli, 'hooli.test', to(3))).status).toBe(201)
    await small.stop()
  })

  it('runs once with several concurrent runners', async () => {
    await runDue()
    const names = Array.from({ length: 12 }, (_, n) => `many-${n}@elsewhere.test`)
    for (const name of names) {
      expect((await schedule({ domain: 'acme.test', recipients: [name] })).status).toBe(201)
    }
    const runs = await Promise.all([runDue(), runDue(), runDue()])
    expect(runs.reduce((sum, count) => sum + count)).toBe(names.length)
    expect(names.map((name) => sink.to(name).length)).toEqual(names.map(() => 1))
  })

  it('is taken over when the lease of its runner has expired, and not before', async () => {
    const made = await schedule({ domain: 'acme.test', recipients: ['again@elsewhere.test'] })
    const { schedule_id } = made.body.data
    const claim = (seconds: number) =>
      sql`update analytics_schedules set lease_owner = 'a killed process',
        lease_until = now() + make_interval(secs => ${seconds})
        where schedule_id = ${schedule_id}`.execute(app.core.db)
    await claim(5)
    await runDue()
    expect(sink.to('again@elsewhere.test')).toHaveLength(0)
    await claim(-1)
    await runDue()
    expect(sink.to('again@elsewhere.test')).toHaveLength(1)
  })

  it('stores "Domain not found" as last_error when its domain is gone', async () => {
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
