import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { waitFor } from '../../../test/support/wait.ts'

const BASE = '/api/v1/rate-limiter'
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({ limiting: true, env: { SVC_INTERNAL_TOKEN: '' } })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const domainPath = `${BASE}/rate-limits/domain/acme.test`
const mailboxPath = `${BASE}/rate-limits/mailbox/admin@acme.test`
const events = (name: string) =>
  app.core.db
    .selectFrom('events')
    .select(['org_id', 'domain', 'source', 'data'])
    .where('event', '=', name)
    .orderBy('sequence')
    .execute()

describe('what is refused', () => {
  it.each([
    ['GET', domainPath, 'Domain not found'],
    ['GET', `${BASE}/rate-limits/usage/acme.test`, 'Domain not found'],
    ['GET', `${BASE}/quotas/domain/acme.test`, 'Domain not found'],
    ['GET', mailboxPath, 'Mailbox not found'],
    ['POST', domainPath, 'Domain not found'],
    ['POST', mailboxPath, 'Mailbox not found'],
  ])('%s %s of another tenant is 404', async (method, path, msg) => {
    const answer = await globex.call(
      method,
      path,
      method === 'POST' ? { daily_limit: 1 } : undefined,
    )
    expect(answer).toMatchObject({ status: 404, body: { msg } })
  })

  it('answers 404 for what exists nowhere, to the platform too', async () => {
    const operator = await app.operator('owner')
    const paths = ['domain/nowhere.test', 'domain/not a domain', 'mailbox/nobody@acme.test']
    for (const path of paths) {
      const answer = await operator.get(`${BASE}/rate-limits/${encodeURI(path)}`)
      expect(answer.status).toBe(404)
    }
  })

  it('says what is wrong with a direction, in the shape of this service', async () => {
    const shape = { status: 400, body: { error: 'Invalid direction' } }
    expect(await acme.get(`${domainPath}?direction=sideways`)).toMatchObject(shape)
    expect(await acme.post(domainPath, { direction: 'up', daily_limit: 1 })).toMatchObject(shape)
  })

  it.each([
    [{ daily_limit: -1 }, 'daily_limit'],
    [{ hourly_limit: 1.5 }, 'hourly_limit'],
    [{ minute_limit: '10' }, 'minute_limit'],
    [{ second_limit: 3_000_000_000 }, 'second_limit'],
    [{ warning_threshold: 0 }, 'warning_threshold'],
    [{ critical_threshold: 101 }, 'critical_threshold'],
    [{ warning_threshold: 96 }, 'warning_threshold'],
    [{ active: 'yes' }, 'active'],
  ])('refuses the rule %j with 422 and its name', async (body, field) => {
    const answer = await acme.post(domainPath, body)
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } })
  })

  it('wants something to change', async () => {
    for (const body of [{}, { direction: 'inbound' }, { unknown: 7 }]) {
      const answer = await acme.post(domainPath, body)
      expect(answer).toMatchObject({ status: 400, body: { msg: 'No data provided' } })
    }
  })
})

describe('a rule', () => {
  it('is the default until somebody stores one', async () => {
    const { status, body } = await acme.get(`${BASE}/rate-limits/mailbox/ADMIN@acme.test`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      success: true,
      data: {
        entity_type: 'mailbox',
        identifier: 'admin@acme.test',
        direction: 'outbound',
        config: {
          second_limit: 2,
          minute_limit: 10,
          hourly_limit: 200,
          daily_limit: 2000,
          monthly_limit: 20000,
          burst_limit: 100,
          active: true,
          priority: 999,
          warning_threshold: 80,
          critical_threshold: 95,
        },
        usage: { hourly_count: 0, daily_count: 0, monthly_count: 0 },
        percentages: { hourly: 0, daily: 0, monthly: 0 },
        remaining: { hourly: 200, daily: 2000, monthly: 20000 },
      },
    })
    expect(body.data.timestamp).toMatch(/^\d{4}-.*Z$/)
  })

  it('keeps what is not sent, is one under all its names, and each direction has its own', async () => {
    const first = await acme.post(domainPath, {
      hourly_limit: 50,
      max_outbound_per_day: 300,
      daily_limit: 7,
      description: 'newsletter',
    })
    expect(first).toMatchObject({
      status: 200,
      body: { success: true, message: 'Rate limits updated successfully' },
    })
    await acme.post(`${BASE}/quotas/domain/ACME.test`, { monthly_limit: 0, priority: 3 })
    await acme.post(domainPath, { direction: 'inbound', hourly_limit: 9, active: false })
    const config = {
      hourly_limit: 50,
      daily_limit: 300,
      monthly_limit: 0,
      description: 'newsletter',
      priority: 3,
      minute_limit: 40,
      second_limit: 5,
      burst_limit: 500,
    }
    for (const path of ['rate-limits/domain', 'quotas/domain', 'rate-limits/usage']) {
      const { body } = await acme.get(`${BASE}/${path}/acme.test`)
      expect(body.data).toMatchObject({ entity_type: 'domain', config })
      expect(body.data.percentages).not.toHaveProperty('monthly')
      expect(body.data.remaining).not.toHaveProperty('monthly')
    }
    const inbound = await acme.get(`${domainPath}?direction=inbound`)
    expect(inbound.body.data.config).toMatchObject({ hourly_limit: 9, active: false, priority: 1 })
  })

  it('loses nothing when two write to it at once', async () => {
    const fields = [
      'second_limit',
      'minute_limit',
      'hourly_limit',
      'daily_limit',
      'monthly_limit',
      'burst_limit',
      'priority',
    ]
    await Promise.all(fields.map((field, index) => acme.post(mailboxPath, { [field]: 41 + index })))
    const { config } = (await acme.get(mailboxPath)).body.data
    expect(fields.map((field) => config[field])).toEqual([41, 42, 43, 44, 45, 46, 47])
  })

  it('is told as an event, with who changed it', async () => {
    await acme.post(domainPath, { direction: 'inbound', daily_limit: 77, created_by: 'billing' })
    expect((await events('rate_limit.reset')).at(-1)).toMatchObject({
      org_id: acme.organizationId,
      domain: 'acme.test',
      source: 'rate_limiter',
      data: {
        entity_type: 'domain',
        identifier: 'acme.test',
        direction: 'inbound',
        daily_limit: 77,
        updated_by: 'billing',
      },
    })
  })

  it('goes with its mailbox: the next owner of the name starts without it', async () => {
    const account = { email: 'short@acme.test', password: 'Tr0ub4dor-and-3-horses', name: 'Short' }
    const create = async () =>
      (await acme.post('/api/v1/mailboxes/email-accounts', account)).body.data.id
    const id = await create()
    await acme.post(`${BASE}/rate-limits/mailbox/short@acme.test`, { daily_limit: 3 })
    await acme.delete(`/api/v1/mailboxes/email-accounts/${id}`)
    await create()
    const { body } = await acme.get(`${BASE}/rate-limits/mailbox/short@acme.test`)
    expect(body.data.config).toMatchObject({ daily_limit: 2000, priority: 999 })
  })
})

describe('usage and reset', () => {
  const check = (email: string, more: object = {}) =>
    app.send('POST', '/check_rate_limit', { body: { email, record: true, ...more } })

  it('shows what was counted, and starts again from zero at a reset', async () => {
    await globex.post(`${BASE}/rate-limits/mailbox/admin@globex.test`, {
      second_limit: 0,
      minute_limit: 0,
      hourly_limit: 4,
    })
    await globex.post(`${BASE}/rate-limits/domain/globex.test`, { second_limit: 0 })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) statuses.push((await check('Admin@globex.test')).status)
    expect(statuses).toEqual([200, 200, 200, 200, 429])
    const { data } = (await globex.get(`${BASE}/rate-limits/mailbox/admin@globex.test`)).body
    expect(data).toMatchObject({
      usage: { hourly_count: 4, daily_count: 4, monthly_count: 4 },
      percentages: { hourly: 100, daily: 0.2 },
      remaining: { hourly: 0, daily: 1996 },
    })
    const reset = await globex.post(`${BASE}/rate-limits/reset`, {
      type: 'mailbox',
      identifier: 'ADMIN@globex.test',
    })
    expect(reset).toMatchObject({
      status: 200,
      body: {
        success: true,
        message: 'Counters reset successfully',
        entity_type: 'mailbox',
        identifier: 'admin@globex.test',
        direction: 'outbound',
      },
    })
    expect((await check('admin@globex.test')).status).toBe(200)
    const domain = await globex.get(`${BASE}/rate-limits/usage/globex.test`)
    expect(domain.body.data.usage.hourly_count).toBe(5)
    expect((await events('rate_limit.reset')).at(-1)?.data).toEqual({
      entity_type: 'mailbox',
      identifier: 'admin@globex.test',
      direction: 'outbound',
    })
  })

  it.each([
    [{ type: 'galaxy', identifier: 'x' }, 400, { type: 'error', msg: 'Invalid entity type' }],
    [{}, 400, { msg: 'Invalid entity type' }],
    [{ type: 'domain' }, 400, { success: false, message: 'Missing identifier' }],
    [
      { type: 'domain', identifier: 'acme.test', direction: 'x' },
      400,
      { success: false, message: 'Invalid direction' },
    ],
    [{ type: 'domain', identifier: '*' }, 404, { msg: 'Domain not found' }],
    [{ type: 'mailbox', identifier: 'admin@globex.test' }, 404, { msg: 'Mailbox not found' }],
    [{ type: 'organization', identifier: 'nobody' }, 404, { msg: 'Organization not found' }],
  ])('answers a reset of %j with %i', async (body, status, shape) => {
    expect(await acme.post(`${BASE}/rate-limits/reset`, body)).toMatchObject({
      status,
      body: shape,
    })
  })

  it("resets the caller's own organization and no other", async () => {
    const reset = (identifier: string) =>
      acme.post(`${BASE}/rate-limits/reset`, { type: 'organization', identifier })
    expect((await reset(acme.organizationId)).status).toBe(200)
    expect((await reset(globex.organizationId)).status).toBe(404)
  })
})

describe('internal routes', () => {
  it('are closed to whoever comes through a proxy', async () => {
    const answer = await app.send('POST', '/check_rate_limit', {
      body: { email: 'admin@acme.test' },
      headers: { 'x-forwarded-for': '203.0.113.9' },
    })
    expect(answer).toMatchObject({
      status: 401,
      body: { msg: expect.stringContaining('Internal token required') },
    })
  })

  it.each([
    ['/check_rate_limit', {}, 'missing_email'],
    ['/check_rate_limit', { email: 'a@acme.test', direction: 'up' }, 'invalid_direction'],
    ['/increment_usage', { email: 'admin@acme.test', amount: 0 }, 'invalid_amount'],
    ['/increment_usage', { email: 'a@nowhere.test' }, 'unknown_email'],
  ])('POST %s %j is 400 %s', async (path, body, error) => {
    expect(await app.send('POST', path, { body })).toMatchObject({ status: 400, body: { error } })
  })

  it('set the limits of an organization, which hold for all of it', async () => {
    const initech = await app.tenant('initech')
    const set = await app.send('POST', '/set_limits', {
      body: {
        entity_type: 'organization',
        identifier: initech.organizationId,
        hourly_limit: 2,
        priority: 1,
      },
    })
    expect(set.status).toBe(200)
    await app.send('POST', '/increment_usage', { body: { email: 'admin@initech.test', amount: 2 } })
    const answer = await app.send('POST', '/check_rate_limit', {
      body: { email: 'admin@initech.test' },
    })
    expect(answer).toMatchObject({
      status: 429,
      body: { allowed: false, entity_type: 'organization', window: 'hourly', limit: 2, count: 2 },
    })
    const usage = await app.send('GET', `/get_usage/organization/${initech.organizationId}`)
    expect(usage.body).toMatchObject({ success: true, usage: { hourly_count: 2 } })
  })

  it('refuse a suppressed recipient for good, without counting', async () => {
    const hooli = await app.tenant('hooli')
    const ask = (more: object = {}) =>
      app.send('POST', '/check_rate_limit', {
        body: { email: 'admin@hooli.test', recipient: 'Gone@far.test', record: true, ...more },
      })
    const list = { email: 'gone@far.test', reason: 'asked for it' }
    expect((await hooli.post('/api/v1/tracking/suppress', list)).status).toBeLessThan(300)
    expect(await waitFor(async () => (await ask()).status === 403 && ask())).toMatchObject({
      status: 403,
      body: {
        allowed: false,
        suppressed: true,
        message: expect.stringMatching(/^gone@far\.test: the address is suppressed/),
      },
    })
    const counted = async () =>
      (await app.send('GET', '/get_usage/mailbox/admin@hooli.test')).body.usage.hourly_count
    expect(await counted()).toBe(0)
    // The rule is its organization's, for single recipients, and for mail that goes out.
    expect((await ask({ email: 'admin@acme.test' })).status).toBe(200)
    expect((await ask({ recipient_count: 2 })).status).toBe(200)
    expect((await ask({ direction: 'inbound' })).status).toBe(200)
    expect((await ask({ recipient: 'here@far.test' })).status).toBe(200)
    expect(await counted()).toBe(2)
    expect((await hooli.delete('/api/v1/tracking/suppress/gone@far.test')).status).toBe(200)
    expect(await waitFor(async () => (await ask()).status === 200)).toBe(true)
  })

  it('answer the policy protocol as text', async () => {
    const text = 'request=smtpd_access_policy\nprotocol_state=RCPT\nsasl_username=nobody-login\n\n'
    const response = await fetch(`${app.base}/policy`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: text,
    })
    expect(await response.text()).toBe(
      'action=REJECT 5.7.1 nobody-login: this login is not known here\n\n',
    )
  })
})
