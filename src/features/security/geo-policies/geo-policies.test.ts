import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { geoFile } from '../../../../test/support/geo-file.ts'
import { endOfMessage, policyClient } from '../../../../test/support/policy.ts'
import { ulid } from '../../../lib/ulid.ts'

const BASE = '/api/v1/security/geo-policies'
const WHY = { reason: 'agreed with the tenant' }

let folder: string
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let operator: Awaited<ReturnType<App['operator']>>
let postfix: ReturnType<typeof policyClient>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-geo-'))
  const file = join(folder, 'countries.mmdb')
  writeFileSync(file, geoFile({ '192.0.2.0/24': 'DE', '198.51.100.0/24': 'FR' }))
  app = await startApp({ limiting: true, env: { GEOIP_DATABASE: file } })
  acme = await app.tenant('acme')
  operator = await app.operator('operator')
  postfix = policyClient(app.limiter.policy.ports.access as number)
})
afterAll(async () => {
  postfix.close()
  await app.stop()
  rmSync(folder, { recursive: true })
})
afterEach(() => app.core.db.deleteFrom('geo_policies').execute())

const create = (body: object = {}) =>
  operator.post(BASE, { organization_id: acme.organizationId, ...WHY, ...body })
const connect = (client_address: string) =>
  postfix.ask(endOfMessage(acme.email, { protocol_state: 'RCPT', client_address }))

it.each([
  [{ reason: undefined }, 'reason'],
  [{ organization_id: undefined }, 'organization_id'],
  [{ action: 'explode' }, 'action'],
  [{ enabled: 'yes' }, 'enabled'],
  [{ allowed_countries: 'DE' }, 'allowed_countries'],
  [{ allowed_countries: ['DEU'] }, 'allowed_countries'],
  [{ blocked_countries: ['D1'] }, 'blocked_countries'],
  [{ allowed_countries: ['de', 'FR'], blocked_countries: ['fr'] }, 'blocked_countries'],
  [{ time_restrictions: [] }, 'time_restrictions'],
  [{ time_restrictions: { timezone_offset: 1 } }, 'time_restrictions'],
  [{ time_restrictions: { allowed_hours: { start: 8 } } }, 'time_restrictions'],
  [{ time_restrictions: { allowed_hours: { start: 8, end: 25 } } }, 'time_restrictions'],
  [{ time_restrictions: { allowed_hours: { start: 8, end: 8 } } }, 'time_restrictions'],
  [{ time_restrictions: { allowed_hours: { start: '8', end: 9 } } }, 'time_restrictions'],
  [
    { time_restrictions: { allowed_hours: { start: 8, end: 9 }, timezone_offset: 15 } },
    'time_restrictions',
  ],
  [
    { time_restrictions: { allowed_hours: { start: 8, end: 9 }, applies_to_countries: ['X'] } },
    'time_restrictions',
  ],
])('rejects a geo policy with %j with 422', async (body, field) => {
  const answer = await create(body)
  expect(answer.status).toBe(422)
  expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', field])
})

it('names the wrong country code in the error of a geo policy', async () => {
  const code = await create({ allowed_countries: ['DE', 'Germany'] })
  expect(code.body.detail[0].msg).toBe('"Germany" is not a country code of ISO 3166-1, such as DE')
  // B7.5: two letters that no country has would never match.
  const unknown = await create({ blocked_countries: ['ZZ'] })
  expect(unknown.status).toBe(422)
  expect(unknown.body.detail[0].msg).toMatch(/^"ZZ" is not a country code/)
  const both = await create({ allowed_countries: ['DE'], blocked_countries: ['DE'] })
  expect(both.body.detail[0].msg).toMatch(/^DE cannot be both allowed and blocked/)
})

it('creates one geo policy per existing organization', async () => {
  const created = await create({ allowed_countries: [' de', 'DE', 'at '] })
  expect(created).toMatchObject({ status: 201, body: { msg: 'Geo policy created' } })
  expect(created.body.data).toEqual({
    id: expect.any(String),
    organization_id: acme.organizationId,
    organization_name: 'acme',
    allowed_countries: ['DE', 'AT'],
    blocked_countries: [],
    time_restrictions: null,
    action: 'block',
    enabled: true,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    countries_known: true,
  })
  expect(await create()).toMatchObject({ status: 409 })
  expect(await create({ organization_id: ulid() })).toMatchObject({
    status: 404,
    body: { msg: 'Organization not found' },
  })
})

it('enforces a changed geo policy from the next connection and emits security.geo.blocked', async () => {
  const { id } = (await create({ blocked_countries: ['FR'] })).body.data
  const put = (body: object) => operator.put(`${BASE}/${id}`, { ...WHY, ...body })
  expect(await connect('192.0.2.9')).toBe('DUNNO')
  expect(await connect('198.51.100.9')).toMatch(/^REJECT 5\.7\.1 .*from FR \(login \S+\)$/)
  await put({ action: 'log_only' })
  expect(await connect('198.51.100.9')).toBe('DUNNO')
  await put({ enabled: false, action: 'block' })
  expect(await connect('198.51.100.9')).toBe('DUNNO')
  await put({ enabled: true })
  expect(await connect('198.51.100.9')).toMatch(/^REJECT/)
  const hour = app.clock.now().getUTCHours()
  const closed = { start: (hour + 2) % 24, end: (hour + 4) % 24 }
  await put({ blocked_countries: [], time_restrictions: { allowed_hours: closed } })
  expect(await connect('192.0.2.9')).toMatch(/^REJECT 5\.7\.1 .*at this hour \(login \S+\)$/)
  expect((await put({ time_restrictions: {} })).body.data.time_restrictions).toBeNull()
  expect(await connect('192.0.2.9')).toBe('DUNNO')
  expect((await operator.delete(`${BASE}/${id}`, WHY)).body).toMatchObject({
    msg: 'Geo policy deleted',
    data: { id, organization_id: acme.organizationId },
  })

  await app.limiter.flush()
  const events = await app.core.db
    .selectFrom('events')
    .select(['org_id', 'data'])
    .where('event', '=', 'security.geo.blocked')
    .orderBy('sequence')
    .execute()
  const common = { user: acme.email, action: 'block' }
  expect(events).toEqual([
    {
      org_id: acme.organizationId,
      data: { ip_address: '198.51.100.9', country: 'FR', reason: 'country', ...common },
    },
    {
      org_id: acme.organizationId,
      data: { ip_address: '192.0.2.9', country: 'DE', reason: 'hour', ...common },
    },
  ])
})

it('checks both country lists as they are after a change and ignores null fields', async () => {
  const { id } = (await create({ allowed_countries: ['DE'], blocked_countries: ['KP'] })).body.data
  const put = (body: object) => operator.put(`${BASE}/${id}`, body)
  expect((await put({ enabled: false })).status).toBe(422)
  expect(await put({ ...WHY, allowed_countries: null, action: null })).toMatchObject({
    status: 400,
    body: { msg: 'No updatable fields provided' },
  })
  expect((await put({ ...WHY, blocked_countries: ['de'] })).body.detail[0].msg).toMatch(/^DE /)
  expect((await put({ ...WHY, blocked_countries: ['de'], allowed_countries: [] })).status).toBe(200)
  expect((await put({ ...WHY, allowed_countries: ['DE'] })).status).toBe(422)
  const missing = `${BASE}/${ulid()}`
  expect(await operator.put(missing, { ...WHY, enabled: true })).toMatchObject({
    status: 404,
    body: { msg: 'Geo policy not found' },
  })
  expect((await operator.delete(missing, WHY)).status).toBe(404)
  expect((await operator.delete(`${BASE}/${id}`)).status).toBe(422)
})

describe('list of geo policies', () => {
  it('filters geo policies and returns the newest first', async () => {
    const globex = await app.tenant('globex')
    await create({ action: 'challenge' })
    await create({ organization_id: globex.organizationId, enabled: false })
    const organizations = async (query: string) => {
      const { body } = await operator.get(`${BASE}?${query}`)
      const items = body.data.items as { organization_name: string }[]
      return items.map(({ organization_name }) => organization_name)
    }
    expect(await organizations('')).toEqual(['globex', 'acme'])
    expect(await organizations('action=challenge')).toEqual(['acme'])
    expect(await organizations('enabled=false')).toEqual(['globex'])
    expect(await organizations(`organization_id=${acme.organizationId}`)).toEqual(['acme'])
    expect(await operator.get(`${BASE}?action=explode`)).toMatchObject({
      status: 422,
      body: { msg: 'action must be one of block, challenge, log_only' },
    })
  })

  it('returns countries_known: false without a GeoIP database', async () => {
    const blind = await startApp()
    const watcher = await blind.operator('operator')
    const { data } = (await watcher.get(BASE)).body
    expect(data).toMatchObject({ items: [], countries_known: false })
    expect(data.schema_note).toMatch(/GEOIP_DATABASE/)
    await blind.stop()
  })
})
