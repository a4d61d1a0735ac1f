import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, newAddress, startApp } from '../../test/support/app.ts'
import { waitFor } from '../../test/support/wait.ts'
import { OPERATOR_BLOCK } from '../access/throttle.repository.ts'
import { edgeSecrets } from '../edge/settings-of.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({
    limiting: true,
    env: { AUTH_POLICY_EXEMPT: '10.9.0.0/16', MAX_AUTH_FAILURES_PER_IP: '8' },
  })
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

let ip: string
beforeEach(() => {
  ip = newAddress()
})

const ALICE = 'admin@acme.test'
const ask = async (command: string, body: object, running: App = app) => {
  const port = running.limiter.policy.ports.auth
  const response = await fetch(`http://127.0.0.1:${port}/auth-policy?command=${command}`, {
    method: 'POST',
    body: JSON.stringify({ device_id: '', pwhash: '0dcf', session_id: 'x', tls: true, ...body }),
  })
  return { code: response.status, ...((await response.json()) as { status: number; msg: string }) }
}
const allow = (login = ALICE, remote = ip, protocol = 'imap') =>
  ask('allow', { login, remote, protocol })
const report = (success: boolean, login = ALICE, remote = ip, more: object = {}) =>
  ask('report', { login, remote, protocol: 'imap', success, policy_reject: false, ...more })
const fail = async (times: number, login = ALICE, remote = ip) => {
  for (let i = 0; i < times; i++) await report(false, login, remote)
}
const rows = async (remote = ip) => {
  await app.limiter.flush()
  return app.core.db
    .selectFrom('failed_auth_attempts')
    .selectAll()
    .where('client_ip', '=', remote)
    .orderBy('username')
    .execute()
}
const events = async (remote = ip) => {
  await app.limiter.flush()
  const found = await app.core.db
    .selectFrom('events')
    .select(['event', 'org_id', 'domain', 'data'])
    .where('source', 'in', ['dovecot', 'postfix'])
    .orderBy('sequence')
    .execute()
  return found.filter(({ data }) => (data as { ip_address: string }).ip_address === remote)
}

describe('what is asked', () => {
  it('is allowed at once while nothing has failed', async () => {
    expect(await allow()).toEqual({ code: 200, status: 0, msg: '' })
    expect(await allow('nobody@nowhere.test', '2001:db8::1', 'pop3')).toMatchObject({ status: 0 })
  })

  it.each<[string, string, RequestInit, number]>([
    ['another method', '?command=allow', { method: 'GET' }, 405],
    ['no command', '', { method: 'POST', body: '{}' }, 400],
    ['another command', '?command=destroy', { method: 'POST', body: '{}' }, 400],
    ['no JSON', '?command=allow', { method: 'POST', body: '{"login":' }, 400],
    ['a list', '?command=report', { method: 'POST', body: '[1]' }, 400],
    ['too much', '?command=report', { method: 'POST', body: 'x'.repeat(100_000) }, 413],
  ])('is refused as %s', async (_what, query, init, status) => {
    const response = await fetch(`http://127.0.0.1:${app.limiter.policy.ports.auth}/${query}`, init)
    expect(response.status).toBe(status)
  })

  it('survives whatever a client calls itself, and stores it', async () => {
    const names = [
      '',
      'a\u0000b',
      '\ud800 lone',
      "'; drop table x --",
      'x'.repeat(5000),
      'Ünï@acme.test',
    ]
    for (const login of names) await report(false, login)
    await ask('report', { login: 7, remote: null, protocol: {}, success: 'yes' })
    const stored = await rows()
    expect(stored).toHaveLength(names.length)
    expect(stored.every(({ username }) => (username ?? '').length <= 255)).toBe(true)
  })
})

describe('failed logins', () => {
  it('make the next one wait, longer each time, until the password is right', async () => {
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      await report(false)
      waits.push((await allow()).status)
    }
    expect(waits).toEqual([2, 4, 8, 16])
    await report(true)
    expect((await allow()).status).toBe(0)
    app.clock.advance(901_000)
    expect((await allow()).status).toBe(0)
  })

  it('are one row per address, account and service, which is counted up', async () => {
    await fail(3)
    await report(false, ALICE, ip, { protocol: 'smtp' })
    await report(false, ALICE, ip, { policy_reject: true })
    expect(
      (await rows()).sort((one, other) => (one.service < other.service ? -1 : 1)),
    ).toMatchObject([
      {
        username: ALICE,
        service: 'imap',
        attempt_count: 3,
        failure_reason: 'invalid_credentials',
        blocked_until: null,
      },
      { username: ALICE, service: 'smtp', attempt_count: 1 },
    ])
    app.clock.advance(901_000)
    await fail(1)
    expect((await rows()).map(({ attempt_count }) => attempt_count).sort()).toEqual([1, 1, 3])
  })

  it('block an account from that address alone: its owner still gets in', async () => {
    await fail(5)
    expect(await allow()).toMatchObject({
      status: -1,
      msg: 'too many failed logins, try again later',
    })
    expect((await allow(ALICE, newAddress())).status).toBe(0)
    expect((await allow('other@acme.test')).status).not.toBe(-1)
    expect(await rows()).toMatchObject([{ failure_reason: 'user_blocked', attempt_count: 5 }])
    const told = await events()
    expect(told.map(({ event }) => event)).toEqual([
      ...new Array(5).fill('auth.login.failure'),
      'security.brute_force',
    ])
    expect(told.at(-1)).toMatchObject({
      org_id: acme.organizationId,
      domain: 'acme.test',
      data: {
        user: ALICE,
        protocol: 'imap',
        failure_count: 5,
        block_duration_secs: 3600,
        block_type: 'user',
      },
    })
    app.clock.advance(3601_000)
    expect((await allow()).status).not.toBe(-1)
  })

  it('block an address that tries one account after the other', async () => {
    for (let i = 0; i < 8; i++) await report(false, `user${i}@acme.test`)
    expect((await allow('never-tried@acme.test')).status).toBe(-1)
    const stored = await rows()
    expect(stored).toHaveLength(8)
    expect(stored.every(({ failure_reason }) => failure_reason === 'ip_blocked')).toBe(true)
    const told = await events()
    expect(told.slice(-2)).toMatchObject([
      { event: 'security.brute_force', data: { block_type: 'ip', failure_count: 8 } },
      { event: 'security.ip.blocked', data: { rule_type: 'brute_force', domain: 'acme.test' } },
    ])
  })

  it('of an exempt address neither block nor delay, and are still stored', async () => {
    await fail(20, ALICE, '10.9.1.1')
    expect((await allow(ALICE, '10.9.1.1')).status).toBe(0)
    expect(await rows('10.9.1.1')).toMatchObject([{ attempt_count: 20, blocked_until: null }])
  })

  it('are known to the next process, and so is a block', async () => {
    const blocked = newAddress()
    await fail(4)
    await fail(5, ALICE, blocked)
    await app.limiter.flush()
    const again = await startApp({ limiting: true, database: app.database })
    try {
      again.clock.advance(app.clock.now().getTime() - Date.now())
      expect(
        (await ask('allow', { login: ALICE, remote: blocked, protocol: 'imap' }, again)).status,
      ).toBe(-1)
    } finally {
      await again.stop()
    }
  })
})

describe('a success', () => {
  it('is told, with the organization of the login', async () => {
    await report(true)
    expect(await events()).toMatchObject([
      {
        event: 'auth.login.success',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: { user: ALICE, ip_address: ip, protocol: 'imap' },
      },
    ])
  })

  it('does not excuse the address for the accounts it has tried', async () => {
    for (let i = 0; i < 7; i++) await report(false, `victim${i}@acme.test`)
    await report(true)
    await report(false, 'victim8@acme.test')
    expect((await allow()).status).toBe(-1)
  })
})

describe("an operator's block", () => {
  it('closes every protocol at once, and is lifted at once with the count behind it', async () => {
    await fail(2)
    await app.limiter.flush()
    const set = (blocked_until: string | null) =>
      app.core.db
        .updateTable('failed_auth_attempts')
        .set({ blocked_until, failure_reason: OPERATOR_BLOCK })
        .where('client_ip', '=', ip)
        .execute()
    await set(new Date(app.clock.now().getTime() + 600_000).toISOString())
    await waitFor(async () => (await allow('somebody@else.test', ip, 'smtp')).status === -1)
    await set(null)
    await waitFor(async () => (await allow()).status === 0)
  })
})

describe('an SMTP credential', () => {
  const create = async (username: string, more: object) =>
    (await acme.post('/api/v1/smtp-credentials/', { domain_id: acme.domainId, username, ...more }))
      .body.data

  it('stops at its expiry, also when Dovecot has it in its cache', async () => {
    const expires_at = new Date(app.clock.now().getTime() + 60_000).toISOString()
    await create('short-lived', { expires_at })
    expect((await allow('short-lived', ip, 'smtp')).status).toBe(0)
    app.clock.advance(61_000)
    expect(await allow('Short-Lived', ip, 'smtp')).toMatchObject({
      status: -1,
      msg: 'this login has expired',
    })
  })

  it('stops when it is revoked, and outside its addresses', async () => {
    const { id } = await create('bound-login', {
      allowed_ips: ['192.0.2.0/24'],
      ip_allowlist_enabled: true,
    })
    expect((await allow('bound-login', '192.0.2.9', 'smtp')).status).toBe(0)
    expect(await allow('bound-login', '198.51.100.1', 'smtp')).toMatchObject({
      status: -1,
      msg: 'this login is not allowed from your address',
    })
    await acme.post(`/api/v1/smtp-credentials/${id}/revoke`)
    await waitFor(async () => (await allow('bound-login', '192.0.2.9', 'smtp')).status === -1)
  })
})

describe('a clean stop', () => {
  it('stores every login that was reported', async () => {
    const own = await startApp({ limiting: true })
    const attempt = { login: 'x@y.test', remote: '192.0.2.1', protocol: 'imap' }
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        ask('report', { ...attempt, success: i % 2 === 0, policy_reject: false }, own),
      ),
    )
    await own.limiter.stop()
    const { count } = await own.core.db
      .selectFrom('events')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('event', 'like', 'auth.login.%')
      .executeTakeFirstOrThrow()
    await own.stop()
    expect(Number(count)).toBe(50)
  })
})

it('believes a Dovecot elsewhere that has the key of the edge, and no other', async () => {
  const open = await startApp({ limiting: true, env: { POLICY_HOST: '0.0.0.0' } })
  try {
    const url = `http://127.0.0.1:${open.limiter.policy.ports.auth}/auth-policy?command=allow`
    const ask = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ login: 'a@b.test', remote: '192.0.2.1', protocol: 'imap' })
      return (await fetch(url, { method: 'POST', headers, body })).status
    }
    const { policyKey } = edgeSecrets(open.core.vault)
    expect(await ask({})).toBe(401)
    expect(await ask({ 'x-edge-key': '' })).toBe(401)
    expect(await ask({ 'x-edge-key': `${policyKey}x` })).toBe(401)
    expect(await ask({ 'x-edge-key': policyKey })).toBe(200)
  } finally {
    await open.stop()
  }
})

describe('the reputation of an address', () => {
  const shown = async () => {
    await app.limiter.flush()
    const support = await app.operator('support')
    const { body } = await support.get(`/api/v1/reputation/ips?q=${ip}&sort_by=ip_address`)
    return body.data.items.find((row: { ip_address: string }) => row.ip_address === ip)
  }

  it('begins with its first login and follows the others', async () => {
    await report(true)
    await report(true)
    expect(await shown()).toMatchObject({
      reputation_score: 55.5,
      total_connections: 2,
      auth_failure_count: 0,
      is_blocked: false,
    })
    await report(false)
    await report(false, ALICE, ip, { policy_reject: true })
    expect(await shown()).toMatchObject({
      reputation_score: 50.5,
      total_connections: 3,
      auth_failure_count: 1,
    })
  })

  it('of one that only fails ends at nothing, and shows the block until it is lifted', async () => {
    for (let account = 0; account < 8; account++) await fail(1, `a${account}@acme.test`)
    expect(await shown()).toMatchObject({
      reputation_score: 5,
      auth_failure_count: 8,
      is_blocked: true,
      blocked_reason: 'Too many failed logins',
      blocked_until: expect.any(String),
    })
    const operator = await app.operator('admin')
    const path = `/api/v1/security/failed-auth/${ip}`
    const reason = 'it is one of ours'
    const lifted = await operator.delete(`${path}/block`, { reason })
    expect(lifted.status).toBe(200)
    expect(await shown()).toMatchObject({ is_blocked: false, blocked_reason: null })
    await operator.post(`${path}/block`, { reason, minutes: 5 })
    expect(await shown()).toMatchObject({ blocked_reason: 'Blocked by an operator' })
  })
})
