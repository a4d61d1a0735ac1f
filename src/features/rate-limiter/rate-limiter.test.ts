import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type App,
  type Client,
  clientOf,
  INTERNAL_TOKEN,
  startApp,
} from '../../../test/support/app.ts'

const BASE = '/api/v1/rate-limiter'
let app: App
let service: Client
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp({ limiting: true })
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  operator = await app.operator('owner')
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

describe('the rate limit API', () => {
  it.each([
    ['GET', domainPath, 'Domain not found'],
    ['GET', `${BASE}/rate-limits/usage/acme.test`, 'Domain not found'],
    ['GET', `${BASE}/quotas/domain/acme.test`, 'Domain not found'],
    ['GET', mailboxPath, 'Mailbox not found'],
    ['POST', domainPath, 'Domain not found'],
    ['POST', mailboxPath, 'Mailbox not found'],
  ])('returns 404 for %s %s of another tenant', async (method, path, msg) => {
    const answer = await globex.call(
      method,
      path,
      method === 'POST' ? { daily_limit: 1 } : undefined,
    )
    expect(answer).toMatchObject({ status: 404, body: { msg } })
  })

  it('returns 404 to an operator for an unknown domain or mailbox', async () => {
    const paths = ['domain/nowhere.test', 'domain/not a domain', 'mailbox/nobody@acme.test']
    for (const path of paths) {
      const answer = await operator.get(`${BASE}/rate-limits/${encodeURI(path)}`)
      expect(answer.status).toBe(404)
    }
  })

  it('returns 400 with `error` for an invalid direction', async () => {
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
  ])('rejects the rule %j with 422 for the field %s', async (body, field) => {
    const answer = await acme.post(domainPath, body)
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', field] }] } })
  })

  it('returns 400 for a body without a known field', async () => {
    for (const body of [{}, { direction: 'inbound' }, { unknown: 7 }]) {
      const answer = await acme.post(domainPath, body)
      expect(answer).toMatchObject({ status: 400, body: { msg: 'No data provided' } })
    }
  })
})

describe('a rate limit rule', () => {
  it('is the default until one is stored', async () => {
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

  it('keeps fields that are not sent, equals its quota alias, and is separate per direction', async () => {
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
    await acme.post(`${BASE}/quotas/domain/ACME.test`, { priority: 3 })
    await operator.post(`${BASE}/quotas/domain/ACME.test`, { monthly_limit: 0 })
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

  it('keeps all fields of concurrent writes', async () => {
    const fields = [
      'second_limit',
      'minute_limit',
      'hourly_limit',
      'daily_limit',
      'monthly_limit',
      'burst_limit',
      'priority',
    ]
    await Promise.all(
      fields.map((field, index) => operator.post(mailboxPath, { [field]: 41 + index })),
    )
    const { config } = (await acme.get(mailboxPath)).body.data
    expect(fields.map((field) => config[field])).toEqual([41, 42, 43, 44, 45, 46, 47])
  })

  it('emits rate_limit.reset with updated_by when it changes', async () => {
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

  it('is deleted with its mailbox: a new mailbox with this address gets the default', async () => {
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

describe('S11: the rule of a tenant', () => {
  let hooligan: Awaited<ReturnType<App['tenant']>>
  const path = `${BASE}/rate-limits/domain/hooligan.test`
  const limits = async () => (await hooligan.get(path)).body.data
  beforeAll(async () => {
    hooligan = await app.tenant('hooligan')
  })

  it.each([
    ['hourly_limit', 2001, 2000],
    ['daily_limit', 2_147_483_647, 20_000],
    ['max_outbound_per_day', 20_001, 20_000],
    ['second_limit', 6, 5],
  ])('cannot lift the default %s to %i', async (field, value, highest) => {
    const loc = ['body', field === 'max_outbound_per_day' ? 'daily_limit' : field]
    expect(await hooligan.post(path, { [field]: value })).toMatchObject({
      status: 422,
      body: { detail: [{ loc, msg: expect.stringContaining(`Must not be above ${highest}`) }] },
    })
  })

  it('lowers a limit, and leaves the limit of the operator with 0 or when it is inactive', async () => {
    expect((await hooligan.post(path, { hourly_limit: 7 })).status).toBe(200)
    expect(await limits()).toMatchObject({
      config: { hourly_limit: 7, daily_limit: 20_000 },
      operator_limits: { hourly_limit: 2000, daily_limit: 20_000, burst_limit: 0 },
      remaining: { hourly: 7, daily: 20_000 },
    })
    await hooligan.post(path, { active: false })
    expect((await limits()).remaining).toMatchObject({ hourly: 2000 })
    await hooligan.post(path, { active: true, hourly_limit: 0 })
    expect((await limits()).remaining).toMatchObject({ hourly: 2000 })
  })

  it('stays below a limit that the operator lowers later, and follows a higher one', async () => {
    await hooligan.post(path, { hourly_limit: 100 })
    await operator.post(path, { hourly_limit: 50, daily_limit: 90_000 })
    expect((await limits()).remaining).toMatchObject({ hourly: 50, daily: 90_000 })
    expect((await hooligan.post(path, { hourly_limit: 51 })).status).toBe(422)
    expect((await hooligan.post(path, { daily_limit: 80_000 })).status).toBe(200)
    await operator.post(path, { active: false })
    expect((await limits()).remaining).toMatchObject({ hourly: 100, daily: 80_000 })
  })
})

describe('rate limit usage and reset', () => {
  const check = (email: string, more: object = {}) =>
    service.post('/check_rate_limit', { email, record: true, ...more })

  it('returns the counted usage, and restarts at zero after a reset', async () => {
    await globex.post(`${BASE}/rate-limits/mailbox/admin@globex.test`, {
      hourly_limit: 4,
    })
    const statuses: number[] = []
    for (let i = 0; i < 5; i++) {
      app.clock.advance(1100)
      statuses.push((await check('Admin@globex.test')).status)
    }
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
  ])('rejects a reset of %j with %i', async (body, status, shape) => {
    expect(await acme.post(`${BASE}/rate-limits/reset`, body)).toMatchObject({
      status,
      body: shape,
    })
  })

  it('S11: lets operators alone reset an organization and what an operator has limited', async () => {
    const initrode = await app.tenant('initrode')
    const organization = { type: 'organization', identifier: initrode.organizationId }
    const domain = { type: 'domain', identifier: initrode.domain }
    const reset = (by: typeof initrode | typeof operator, body: object) =>
      by.post(`${BASE}/rate-limits/reset`, body)
    const refusal = {
      status: 403,
      body: { msg: 'Only the operator of this host can reset these counters' },
    }
    expect(await reset(initrode, organization)).toMatchObject(refusal)
    expect((await reset(globex, organization)).status).toBe(404)
    expect((await reset(operator, organization)).status).toBe(200)
    expect((await reset(initrode, domain)).status).toBe(200)
    await operator.post(`${BASE}/rate-limits/domain/${initrode.domain}`, { hourly_limit: 5 })
    expect(await reset(initrode, domain)).toMatchObject(refusal)
    expect((await reset(operator, domain)).status).toBe(200)
  })
})
