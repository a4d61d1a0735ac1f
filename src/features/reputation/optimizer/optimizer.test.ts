import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../../../test/support/app.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { tellWarmUp } from './optimizer.jobs.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({ env: { DELIVERY_OPTIMIZER_ENABLED: 'true' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

let domain: string
beforeEach(() => {
  domain = `${ulid().toLowerCase()}.test`
})

const ask = (method: string, path: string, body?: object, token = INTERNAL_TOKEN) =>
  app.send(method, path, {
    ...(body && { body }),
    headers: { ...(token && { 'x-internal-token': token }) },
  })
const post = (path: string, body: object) => ask('POST', path, body)
const to = (recipient_domain = domain, more: object = {}) => ({
  recipient_domain,
  organization_id: acme.organizationId,
  ...more,
})
const told = async (event: string, field: string, value: string) =>
  (await app.core.db.selectFrom('events').selectAll().where('event', '=', event).execute())
    .filter(({ data }) => (data as Record<string, unknown>)[field] === value)
    .map(({ data, org_id }) => ({ ...(data as object), org_id }))
const suppressions = (email: string) =>
  app.core.db.selectFrom('suppressions').selectAll().where('email', '=', email).execute()

describe('every delivery optimizer route', () => {
  it.each([
    ['POST', '/check'],
    ['POST', '/record'],
    ['POST', '/bounce'],
    ['POST', '/feedback-loop'],
    ['POST', '/warming/schedule'],
    ['GET', '/warming/schedule/192.0.2.1'],
    ['GET', '/warming/status'],
    ['GET', '/isp-limits'],
    ['PUT', '/isp-limits/far.test'],
    ['GET', '/reputation/acme.test'],
    ['GET', '/stats/x'],
  ])('%s %s requires the internal token', async (method, path) => {
    const body = method === 'GET' ? undefined : {}
    expect((await ask(method, path, body, '')).status).toBe(401)
    expect((await ask(method, path, body, 'wrong')).status).toBe(401)
    expect((await acme.call(method, path, body)).status).toBe(401)
  })

  it.each([
    ['POST', '/check', {}],
    ['POST', '/check', { recipient_domain: 'no domain', organization_id: 'x' }],
    ['POST', '/check', { recipient_domain: 'far.test', organization_id: 'nobody' }],
    ['POST', '/record', { recipient_domain: 'far.test', organization_id: 'nobody' }],
    ['POST', '/record', { recipient_domain: '<script>', organization_id: 'nobody' }],
    ['POST', '/bounce', { organization_id: 'x', recipient: 'a@b.test', bounce_type: 'odd' }],
    ['POST', '/bounce', { organization_id: 'nobody', recipient: 'a@b.test', bounce_type: 'hard' }],
    ['POST', '/feedback-loop', { reporter: 'a@b.test', original_recipient: 'a@b.test' }],
    [
      'POST',
      '/feedback-loop',
      { organization_id: 'nobody', reporter: 'x', original_recipient: 'a@b.test' },
    ],
    ['POST', '/feedback-loop', { report: 'Subject: hello\r\n\r\nno report' }],
    [
      'POST',
      '/warming/schedule',
      { ip_address: 'x', organization_id: 'x', target_daily_volume: 1, warmup_days: 1 },
    ],
    [
      'POST',
      '/warming/schedule',
      {
        ip_address: '192.0.2.1',
        organization_id: 'nobody',
        target_daily_volume: 1,
        warmup_days: 1,
      },
    ],
    [
      'POST',
      '/warming/schedule',
      { ip_address: '192.0.2.1', organization_id: 'x', target_daily_volume: 0, warmup_days: 1 },
    ],
    ['PUT', '/isp-limits/far.test', {}],
    ['PUT', '/isp-limits/far.test', { hourly_limit: -1 }],
    ['PUT', '/isp-limits/%3Cscript%3E', { hourly_limit: 1 }],
    ['GET', '/warming/schedule/nowhere', undefined],
    ['GET', '/stats/nobody', undefined],
  ])('%s %s rejects %o with 422', async (method, path, body) => {
    expect((await ask(method, path, body)).status).toBe(422)
  })

  it('returns 404 for an unknown schedule, an unknown domain and a foreign domain', async () => {
    expect((await ask('GET', '/warming/schedule/192.0.2.77')).status).toBe(404)
    expect((await ask('GET', '/reputation/nowhere.test')).status).toBe(404)
    const foreign = `/reputation/acme.test?organization_id=${globex.organizationId}`
    expect((await ask('GET', foreign)).status).toBe(404)
  })
})

describe('pacing of outbound mail', () => {
  it('stops at the hourly limit of a recipient domain and emits one event', async () => {
    await ask('PUT', `/isp-limits/${domain}`, { hourly_limit: 2 })
    const { body } = await post('/check', to(domain.toUpperCase()))
    expect(body).toMatchObject({
      send_now: true,
      hourly_count: 0,
      hourly_limit: 2,
      daily_limit: 10_000,
    })
    for (let i = 0; i < 2; i++) {
      expect((await post('/record', to())).body).toEqual({ status: 'recorded' })
    }
    const reason = `hourly limit of 2 reached for ${domain}`
    for (let i = 0; i < 2; i++) {
      expect((await post('/check', to())).body).toMatchObject({
        send_now: false,
        reason,
        hourly_count: 2,
      })
    }
    const other = to(domain, { organization_id: globex.organizationId })
    expect((await post('/check', other)).body).toMatchObject({ send_now: true, hourly_count: 0 })
    const organization_id = acme.organizationId
    expect(await told('optimizer.domain.throttled', 'domain', domain)).toEqual([
      { domain, reason, organization_id, org_id: organization_id },
    ])
    const stats = (await ask('GET', `/stats/${organization_id}`)).body
    expect(stats.domains).toContainEqual({
      recipient_domain: domain,
      hourly_sends: 2,
      daily_sends: 2,
      throttled: true,
    })
    expect(stats.total_daily_sends).toBeGreaterThanOrEqual(2)
  })

  it('returns a delay after a burst and stops at the daily limit', async () => {
    await ask('PUT', `/isp-limits/${domain}`, { burst_limit: 1, delay_ms: 700, daily_limit: 2 })
    expect((await post('/check', to())).body.delay_ms).toBeUndefined()
    // At the turn of a minute the burst starts again, hence the poll.
    await expect
      .poll(async () => {
        await post('/record', to(domain, { organization_id: globex.organizationId }))
        const question = to(domain, { organization_id: globex.organizationId })
        const { body } = await post('/check', question)
        return body.delay_ms ?? body.reason
      })
      .toMatch(/700|daily/)
    await post('/record', to())
    await post('/record', to())
    expect((await post('/check', to())).body).toMatchObject({
      send_now: false,
      reason: `daily limit of 2 reached for ${domain}`,
    })
  })

  it('merges the built-in ISP limits with stored ones', async () => {
    await ask('PUT', '/isp-limits/gmail.com', { hourly_limit: 7 })
    const { body } = await ask('GET', '/isp-limits')
    expect(body['gmail.com']).toEqual({
      hourly_limit: 7,
      daily_limit: 2000,
      burst_limit: 10,
      delay_ms: 1000,
      max_concurrent: 5,
    })
    expect(body['aol.com']).toMatchObject({ hourly_limit: 100, delay_ms: 2000 })
    expect(body.default).toMatchObject({ hourly_limit: 500, daily_limit: 10_000 })
  })
})

describe('the warm-up of a sending IP', () => {
  it('raises the limit every day and emits one event for each step', async () => {
    const ip = '192.0.2.50'
    const organization_id = acme.organizationId
    const { body } = await post('/warming/schedule', {
      ip_address: `::ffff:${ip}`,
      organization_id,
      target_daily_volume: 5000,
      warmup_days: 3,
    })
    expect(body).toMatchObject({
      status: 'ok',
      ip_address: ip,
      warmup_days: 3,
      day: 1,
      today_limit: 50,
    })
    await tellWarmUp.run(app.core)
    app.clock.advance(DAY_MS)
    await tellWarmUp.run(app.core)
    await tellWarmUp.run(app.core)
    expect((await ask('GET', `/warming/schedule/${ip}`)).body).toMatchObject({
      day: 2,
      today_limit: 500,
      completed: false,
    })
    app.clock.advance(5 * DAY_MS)
    await tellWarmUp.run(app.core)
    await tellWarmUp.run(app.core)
    const { schedules } = (await ask('GET', '/warming/status')).body
    expect(schedules).toMatchObject([{ ip_address: ip, completed: true, today_limit: 5000 }])
    const step = (stage: string, today_limit: number) => ({
      ip,
      stage,
      today_limit,
      target_volume: 5000,
      org_id: organization_id,
    })
    expect(await told('optimizer.ip.warmed', 'ip', ip)).toEqual([
      step('day 1', 50),
      step('day 2', 500),
      step('completed', 5000),
    ])
  })

  it('stops at the limit of the day', async () => {
    const sender_ip = '192.0.2.51'
    const organization_id = acme.organizationId
    const more = { target_daily_volume: 1, warmup_days: 9, organization_id }
    await post('/warming/schedule', { ip_address: sender_ip, ...more })
    expect((await post('/check', to(domain, { sender_ip }))).body).toMatchObject({ send_now: true })
    await post('/record', to(domain, { sender_ip }))
    const { body } = await post('/check', to(domain, { sender_ip }))
    expect(body).toMatchObject({ send_now: false })
    expect(body.reason).toContain(sender_ip)
    expect((await post('/check', to())).body).toMatchObject({ send_now: true })
  })
})

describe('bounces reported to the optimizer', () => {
  const bounce = (recipient: string, bounce_type: string) =>
    post('/bounce', {
      organization_id: acme.organizationId,
      recipient,
      sender: 'news@acme.test',
      bounce_type,
      bounce_code: '550',
      diagnostic: 'no such user',
    })

  it.each([
    ['hard', true, 'BOUNCE'],
    ['Complaint', true, 'COMPLAINT'],
    ['unsubscribe', true, 'UNSUBSCRIBE'],
    ['soft', false, undefined],
  ])('of type %s suppress the recipient: %s', async (kind, suppressed, type) => {
    const recipient = `${kind.toLowerCase()}@far.test`
    expect(await bounce(recipient, kind)).toMatchObject({ status: 200, body: { suppressed } })
    const rows = await suppressions(recipient)
    expect(rows.map((row) => row.suppression_type)).toEqual(type ? [type] : [])
  })

  it('suppress the recipient at the fifth soft bounce', async () => {
    for (let i = 0; i < 4; i++) await bounce('often@far.test', 'soft')
    expect(await bounce('often@far.test', 'soft')).toMatchObject({ body: { suppressed: true } })
  })

  it('leave the reputation of a domain readable', async () => {
    expect((await ask('GET', '/reputation/ACME.test')).body).toMatchObject({
      domain: 'acme.test',
      score: 100,
      rating: 'excellent',
    })
  })
})

describe('a feedback loop complaint', () => {
  const report = (to: string, more = '') =>
    [
      'From: <fbl@isp.test>',
      'To: abuse@host.test',
      'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
      '',
      '--b',
      'Content-Type: text/plain',
      '',
      'This is a complaint.',
      '--b',
      'Content-Type: message/feedback-report',
      '',
      'Feedback-Type: abuse',
      'User-Agent: Some/1.0',
      'Version: 1',
      `Original-Rcpt-To: ${to}`,
      'Original-Mail-From: <news@acme.test>',
      more,
      '',
      '--b',
      'Content-Type: message/rfc822',
      '',
      'From: News <news@acme.test>',
      'Message-ID: <1@acme.test>',
      'Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=',
      '',
      'Hello',
      '--b--',
    ].join('\r\n')

  it('is stored from JSON fields, emits events and suppresses the recipient', async () => {
    const original_recipient = 'fields@isp.test'
    const { body } = await post('/feedback-loop', {
      organization_id: acme.organizationId,
      reporter: 'FBL@ISP.test',
      original_recipient,
      original_sender: 'news@acme.test',
    })
    expect(body).toMatchObject({ status: 'recorded', suppressed: true })
    expect(await suppressions(original_recipient)).toMatchObject([
      { suppression_type: 'COMPLAINT' },
    ])
    expect(await told('optimizer.fbl.received', 'original_recipient', original_recipient)).toEqual([
      {
        reporter: 'FBL@ISP.test',
        feedback_type: 'abuse',
        original_recipient,
        suppressed: true,
        org_id: acme.organizationId,
      },
    ])
    expect((await told('delivery.complaint', 'recipient', original_recipient)).length).toBe(1)
  })

  it('is parsed from a report, attributed to the sending organization and counted once', async () => {
    const raw = report('<Report@isp.test>')
    expect((await post('/feedback-loop', { report: raw })).body).toMatchObject({
      status: 'recorded',
      suppressed: true,
      organization_id: acme.organizationId,
    })
    expect((await post('/feedback-loop', { report: raw })).body.status).toBe('duplicate')
    const support = await app.operator('support')
    const { body } = await support.get('/api/v1/reputation/domains/acme.test')
    const mine = body.data.complaints.filter(
      (row: { original_recipient: string }) => row.original_recipient === 'report@isp.test',
    )
    expect(mine).toMatchObject([
      {
        isp_name: 'isp.test',
        complaint_recipient: 'abuse@host.test',
        feedback_type: 'abuse',
        email_id: '1@acme.test',
        subject: 'Grüße',
        sender: 'news@acme.test',
        processed: true,
        suppression_added: true,
      },
    ])
    expect(mine[0]).not.toHaveProperty('digest')
  })

  it('with a redacted recipient stays unprocessed', async () => {
    const { body } = await post('/feedback-loop', { report: report('redacted') })
    expect(body).toMatchObject({ status: 'recorded', suppressed: false })
    const support = await app.operator('support')
    const list = await support.get('/api/v1/reputation/feedback-loops?processed=false')
    expect(list.body.data.items).toMatchObject([{ original_recipient: '', processed: false }])
  })

  it('adds no suppression when its type is not-spam', async () => {
    const raw = report('<fine@isp.test>').replace('Feedback-Type: abuse', 'Feedback-Type: not-spam')
    expect((await post('/feedback-loop', { report: raw })).body.suppressed).toBe(false)
    expect(await suppressions('fine@isp.test')).toEqual([])
  })

  it('cannot attribute the domain of one organization to another', async () => {
    const { body } = await post('/feedback-loop', {
      organization_id: globex.organizationId,
      reporter: 'fbl@isp.test',
      original_recipient: 'x@isp.test',
      original_sender: 'news@acme.test',
    })
    const row = await app.core.db
      .selectFrom('feedback_loops')
      .select('sender_domain')
      .where('id', '=', body.id)
      .executeTakeFirstOrThrow()
    expect(row.sender_domain).toBeNull()
  })
})
