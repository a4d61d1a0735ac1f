import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { endOfMessage, policyClient } from '../../../../test/support/policy.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { ulid } from '../../../lib/ulid.ts'

const BASE = '/api/v1/security/ip-rules'
const WHY = { reason: 'agreed with the tenant' }

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
let postfix: ReturnType<typeof policyClient>
beforeAll(async () => {
  app = await startApp({ limiting: true })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  operator = await app.operator('operator')
  postfix = policyClient(app.limiter.policy.ports.access as number)
})
afterAll(async () => {
  postfix.close()
  await app.stop()
})

const create = (rule_type: string, ip_address: string, more: object = {}) =>
  operator.post(BASE, {
    rule_type,
    ip_address,
    organization_id: acme.organizationId,
    ...WHY,
    ...more,
  })
const connect = (client_address: string, login = acme.email) =>
  postfix.ask(endOfMessage(login, { protocol_state: 'RCPT', client_address }))

describe('creating an IP access rule', () => {
  it.each([
    [{ reason: undefined }, 422, ['body', 'reason']],
    [{ reason: '' }, 422, ['body', 'reason']],
    [{ rule_type: 'greylist' }, 422, ['body', 'rule_type']],
    [{ organization_id: undefined }, 422, ['body', 'organization_id']],
    [{ description: 'x'.repeat(256) }, 422, ['body', 'description']],
    [{ ip_address: 'example.com' }, 422, ['body', 'ip_address']],
    [{ ip_address: '192.0.2.0/33' }, 422, ['body', 'ip_address']],
    [{ ip_address: '' }, 422, ['body', 'ip_address']],
    [{ ip_address: ['192.0.2.1'] }, 422, ['body', 'ip_address']],
  ])('rejects %o', async (more, status, loc) => {
    expect(await create('blacklist', '192.0.2.1', more)).toMatchObject({
      status,
      body: { detail: [{ loc }] },
    })
  })

  it('returns 404 for an unknown organization', async () => {
    const answer = await create('blacklist', '192.0.2.1', { organization_id: ulid() })
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Organization not found' } })
  })

  it('normalizes the network and rejects an equal network in another spelling with 409', async () => {
    const created = await create('blacklist', ' 10.77.0.5/24 ', { description: 'Lab' })
    expect(created).toMatchObject({ status: 201, body: { msg: 'IP access rule created' } })
    expect(created.body.data).toEqual({
      id: expect.any(String),
      organization_id: acme.organizationId,
      organization_name: 'acme',
      rule_type: 'blacklist',
      ip_address: '10.77.0.0/24',
      applies_to: ['smtp', 'mailbox', 'api'],
      description: 'Lab',
      active: true,
      created_by: operator.email,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    for (const again of ['10.77.0.0/24', '10.77.0.255/24', '::ffff:10.77.0.1/120']) {
      expect(await create('blacklist', again)).toMatchObject({
        status: 409,
        body: { msg: 'An identical rule already exists for this organization' },
      })
    }
    expect((await create('blacklist', '2001:DB8:0::1/128')).body.data.ip_address).toBe(
      '2001:db8::1',
    )
    expect((await create('whitelist', '10.77.0.9/24', { active: false })).status).toBe(201)
    const foreign = { organization_id: globex.organizationId }
    expect((await create('blacklist', '10.77.0.0/24', foreign)).status).toBe(201)
    await app.core.db.deleteFrom('ip_access_rules').execute()
  })
})

describe('IP access rule', () => {
  it('applies from the next connection until it is changed or deleted', async () => {
    expect(await connect('203.0.113.5')).toBe('DUNNO')
    const { id } = (await create('blacklist', '203.0.113.0/24')).body.data
    expect(await connect('203.0.113.5')).toMatch(/^REJECT 5\.7\.1 .*blacklist/)
    expect(await connect('203.0.113.5', globex.email)).toBe('DUNNO')
    await operator.put(`${BASE}/${id}`, { active: false, ...WHY })
    expect(await connect('203.0.113.5')).toBe('DUNNO')
    await operator.put(`${BASE}/${id}`, { active: true, rule_type: 'whitelist', ...WHY })
    expect(await connect('203.0.113.5')).toBe('DUNNO')
    expect(await connect('198.51.100.1')).toMatch(/^REJECT 5\.7\.1 .*not on the whitelist/)
    const { id: second } = (await create('whitelist', '198.51.100.1')).body.data
    expect(await connect('198.51.100.1')).toBe('DUNNO')

    const first = await operator.delete(`${BASE}/${id}`, WHY)
    expect(first.body).toEqual({
      type: 'success',
      msg: 'IP access rule deleted',
      data: { id, organization_id: acme.organizationId, active_whitelist_rules_remaining: 1 },
    })
    expect(await connect('203.0.113.5')).toMatch(/^REJECT/)
    const last = await operator.delete(`${BASE}/${second}`, WHY)
    expect(last.body.data.active_whitelist_rules_remaining).toBe(0)
    expect(await connect('203.0.113.5')).toBe('DUNNO')
  })

  it('accepts changes of every field except the IP address', async () => {
    const { id, ...created } = (await create('blacklist', '192.0.2.0/24')).body.data
    const put = (body: object) => operator.put(`${BASE}/${id}`, body)
    expect(await put({ active: false })).toMatchObject({ status: 422 })
    expect(await put(WHY)).toMatchObject({
      status: 400,
      body: { msg: 'No updatable fields provided' },
    })
    expect(await put({ ip_address: '192.0.3.0/24', active: false, ...WHY })).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'ip_address'] }] },
    })
    const same = await put({ ip_address: '192.0.2.7/24', description: 'Again', ...WHY })
    expect(same.body.data).toEqual({
      ...created,
      id,
      description: 'Again',
      updated_at: expect.any(String),
    })
    expect((await put({ description: null, ...WHY })).body.data.description).toBeNull()
    await create('whitelist', '192.0.2.0/24')
    expect((await put({ rule_type: 'whitelist', ...WHY })).status).toBe(409)
    for (const missing of [ulid(), 'nothing']) {
      expect(await operator.put(`${BASE}/${missing}`, { active: true, ...WHY })).toMatchObject({
        status: 404,
        body: { msg: 'IP access rule not found' },
      })
      expect((await operator.delete(`${BASE}/${missing}`, WHY)).status).toBe(404)
    }
    expect((await operator.delete(`${BASE}/${id}`)).status).toBe(422)
    await app.core.db.deleteFrom('ip_access_rules').execute()
  })

  it('writes an audit row with the reason for a created and for a rejected rule', async () => {
    await create('blacklist', '192.0.2.44', { reason: 'made once' })
    await create('blacklist', '192.0.2.44', { reason: 'once more' })
    const rows = await waitFor(async () => {
      const audit = await app.core.db
        .selectFrom('operator_audit')
        .select(['status_code', 'result', 'request_body'])
        .where('action', '=', 'create_ip_rule')
        .where(sql<string>`request_body->>'reason'`, 'in', ['made once', 'once more'])
        .orderBy('status_code')
        .execute()
      return audit.length === 2 && audit
    })
    expect(rows).toMatchObject([
      { status_code: 201, result: 'success', request_body: { reason: 'made once' } },
      { status_code: 409, result: 'failure', request_body: { reason: 'once more' } },
    ])
    await app.core.db.deleteFrom('ip_access_rules').execute()
  })
})

describe('list of IP access rules', () => {
  it('filters, sorts and pages IP access rules', async () => {
    await create('blacklist', '192.0.2.1', { description: 'Noisy Neighbour' })
    await create('whitelist', '192.0.2.2')
    const { id } = (await create('whitelist', '192.0.2.3')).body.data
    await operator.put(`${BASE}/${id}`, { active: false, ...WHY })
    await create('blacklist', '192.0.2.4', { organization_id: globex.organizationId })
    const numbers = async (query: string) => {
      const { body } = await operator.get(`${BASE}?${query}`)
      return body.data.items.map((rule: { ip_address: string }) => rule.ip_address.slice(-1))
    }
    expect(await numbers('')).toEqual(['4', '3', '2', '1'])
    expect(await numbers('rule_type=whitelist')).toEqual(['3', '2'])
    expect(await numbers('active=false')).toEqual(['3'])
    expect(await numbers(`organization_id=${globex.organizationId}`)).toEqual(['4'])
    expect(await numbers('q=noisy')).toEqual(['1'])
    expect(await numbers('sort_by=ip_address&sort_dir=asc')).toEqual(['1', '2', '3', '4'])
    expect(await numbers('sort_by=updated_at&per_page=1')).toEqual(['4'])
    expect(await numbers('page=2&per_page=3')).toEqual(['1'])
    const wrong = ['rule_type=grey', 'active=2', 'sort_by=id', 'sort_dir=up', 'per_page=0']
    for (const query of wrong) {
      expect((await operator.get(`${BASE}?${query}`)).status).toBe(422)
    }
  })
})
