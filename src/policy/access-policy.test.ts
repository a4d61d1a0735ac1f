import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { geoFile } from '../../test/support/geo-file.ts'
import { endOfMessage, policyClient } from '../../test/support/policy.ts'
import { ulid } from '../lib/ulid.ts'
import type { GeoPolicy } from './access.repository.ts'
import { refusedByCountry } from './access-rules.ts'

let folder: string
let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let postfix: ReturnType<typeof policyClient>
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mailplane-geo-'))
  const file = join(folder, 'countries.mmdb')
  writeFileSync(file, geoFile({ '192.0.2.0/24': 'DE', '198.51.100.0/24': 'FR' }))
  app = await startApp({ limiting: true, env: { GEOIP_DATABASE: file } })
  acme = await app.tenant('acme')
  await app.tenant('globex')
  postfix = policyClient(app.limiter.policy.ports.access as number)
})
afterAll(async () => {
  postfix.close()
  await app.stop()
  rmSync(folder, { recursive: true })
})
afterEach(async () => {
  await app.core.db.deleteFrom('ip_access_rules').execute()
  await app.core.db.deleteFrom('geo_policies').execute()
})

const connect = (client_address: string, more = {}, login = 'admin@acme.test') =>
  postfix.ask(endOfMessage(login, { protocol_state: 'RCPT', client_address, ...more }))
const rule = (rule_type: 'whitelist' | 'blacklist', ip_address: string, active = true) =>
  app.core.db
    .insertInto('ip_access_rules')
    .values({ id: ulid(), organization_id: acme.organizationId, rule_type, ip_address, active })
    .execute()
const geo = (policy: Partial<GeoPolicy> & { enabled?: boolean }) =>
  app.core.db
    .insertInto('geo_policies')
    .values({ id: ulid(), organization_id: acme.organizationId, ...policy })
    .execute()
const blocked = async () => {
  await app.limiter.flush()
  const rows = await app.core.db
    .selectFrom('events')
    .select(['org_id', 'data'])
    .where('event', '=', 'security.ip.blocked')
    .orderBy('sequence')
    .execute()
  return rows.map(({ org_id, data }): Record<string, unknown> => ({ org_id, ...data }))
}

it('S7: rejects a sender or recipient with an @ in its local part', async () => {
  const refusal = 'a local part with an @ is not allowed (login admin@acme.test)'
  const sender = '"x@acme.test"@globex.test'
  expect(await connect('203.0.113.5', { sender })).toBe(`REJECT 5.1.7 ${refusal}`)
  const recipient = 'x@acme.test@globex.test'
  expect(await connect('203.0.113.5', { recipient })).toBe(`REJECT 5.1.3 ${refusal}`)
})

describe('IP access rules', () => {
  it('reject a blacklisted IP from the next request until the rule is inactive', async () => {
    expect(await connect('203.0.113.5')).toBe('DUNNO')
    await rule('blacklist', '203.0.113.77/24')
    expect(await connect('203.0.113.5')).toBe(
      'REJECT 5.7.1 203.0.113.5: your address is on the blacklist of your organization (login admin@acme.test)',
    )
    expect(await connect('203.0.114.5')).toBe('DUNNO')
    await app.core.db.updateTable('ip_access_rules').set({ active: false }).execute()
    expect(await connect('203.0.113.5')).toBe('DUNNO')
    expect((await blocked()).at(-1)).toMatchObject({
      org_id: acme.organizationId,
      ip_address: '203.0.113.5',
      domain: 'acme.test',
      rule_type: 'blacklist',
      cidr: '203.0.113.77/24',
    })
  })

  it('reject IPs outside the whitelist, and the blacklist takes precedence', async () => {
    await rule('whitelist', '2001:db8::/32')
    await rule('whitelist', 'not an address')
    expect(await connect('2001:db8::7')).toBe('DUNNO')
    expect(await connect('203.0.113.6')).toMatch(/^REJECT 5\.7\.1 .*not on the whitelist/)
    await rule('blacklist', '2001:db8::7')
    expect(await connect('2001:db8::7')).toMatch(/blacklist/)
  })

  it('apply to the organization of the login, whatever the envelope sender is', async () => {
    await rule('blacklist', '203.0.113.5')
    expect(await connect('203.0.113.5', { sender: '' })).toMatch(/^REJECT/)
    expect(await connect('203.0.113.5', { sender: 'admin@globex.test' })).toMatch(/^REJECT/)
    expect(await connect('203.0.113.5', { sender: 'admin@acme.test' }, 'admin@globex.test')).toBe(
      'DUNNO',
    )
    expect(await connect('203.0.113.5', {}, '')).toBe('DUNNO')
    expect(await connect('unknown')).toBe('DUNNO')
  })

  it('emit one event per minute for repeated rejections', async () => {
    await rule('blacklist', '203.0.113.9')
    const before = (await blocked()).length
    for (let i = 0; i < 5; i++) await connect('203.0.113.9')
    expect((await blocked()).length).toBe(before + 1)
  })
})

describe('geo policies', () => {
  it('allow listed countries only, and private networks', async () => {
    await geo({ allowed_countries: ['DE'] })
    expect(await connect('192.0.2.9')).toBe('DUNNO')
    expect(await connect('198.51.100.9')).toBe(
      'REJECT 5.7.1 198.51.100.9: your organization does not allow logins from FR (login admin@acme.test)',
    )
    expect(await connect('8.8.8.8')).toMatch(/unknown country \(login .*\)$/)
    expect(await connect('10.1.2.3')).toBe('DUNNO')
    expect((await blocked()).find(({ ip_address }) => ip_address === '198.51.100.9')).toMatchObject(
      { rule_type: 'geo', country: 'FR', action: 'block' },
    )
  })

  it.each([
    ['block', /^REJECT 5\.7\.1/],
    ['challenge', /^DEFER_IF_PERMIT 4\.7\.0/],
    ['log_only', /^DUNNO$/],
  ] as const)('with the action %s return %s', async (action, expected) => {
    await geo({ blocked_countries: ['FR'], action })
    expect(await connect('198.51.100.9')).toMatch(expected)
    expect(await connect('192.0.2.9')).toBe('DUNNO')
  })

  it('have no effect while they are disabled', async () => {
    await geo({ blocked_countries: ['FR'], enabled: false })
    expect(await connect('198.51.100.9')).toBe('DUNNO')
  })

  const hours = (start: number, end: number, more = {}): GeoPolicy => ({
    allowed_countries: [],
    blocked_countries: [],
    action: 'block',
    time_restrictions: { allowed_hours: { start, end }, ...more },
  })
  it.each<[string, GeoPolicy, string, boolean]>([
    ['inside the hours', hours(8, 18), '2026-05-01T08:00:00Z', false],
    ['after the last hour', hours(8, 18), '2026-05-01T18:00:00Z', true],
    ['over midnight, inside', hours(22, 6), '2026-05-01T23:30:00Z', false],
    ['over midnight, outside', hours(22, 6), '2026-05-01T06:00:00Z', true],
    [
      'shifted by the time zone',
      hours(8, 18, { timezone_offset: -5 }),
      '2026-05-01T08:00:00Z',
      true,
    ],
    [
      'for other countries',
      hours(8, 18, { applies_to_countries: ['FR'] }),
      '2026-05-01T03:00:00Z',
      false,
    ],
    [
      'for this country',
      hours(8, 18, { applies_to_countries: ['DE'] }),
      '2026-05-01T03:00:00Z',
      true,
    ],
  ])('apply allowed_hours: %s', (_what, policy, time, isRefused) => {
    expect(refusedByCountry(policy, 'DE', new Date(time)) !== undefined).toBe(isRefused)
  })
})
