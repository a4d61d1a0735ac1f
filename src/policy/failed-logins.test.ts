import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../test/support/app.ts'
import { ALICE, ask, logins, startAuthPolicy } from '../../test/support/auth-policy.ts'
import { waitFor } from '../../test/support/wait.ts'
import { OPERATOR_BLOCK } from '../access/throttle.repository.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  ;({ app, acme } = await startAuthPolicy())
})
afterAll(() => app.stop())

let ip: string
beforeEach(() => {
  ip = newIp()
})
const { allow, events, fail, report, rows } = logins(
  () => app,
  () => ip,
)

describe('failed logins', () => {
  it('with a token are no wrong passwords, and have a limit of their own', async () => {
    const withToken = () => ask(app, 'allow', { login: ALICE, remote: ip, mech: 'XOAUTH2' })
    for (const mech of ['XOAUTH2', 'OAUTHBEARER']) {
      for (let at = 0; at < 10; at++) await report(false, ALICE, ip, { mech })
    }
    expect(await rows()).toEqual([])
    expect((await allow()).status).toBe(0)
    expect((await withToken()).status).toBe(0)
    for (let at = 0; at < 180; at++) await report(false, ALICE, ip, { mech: 'XOAUTH2' })
    expect((await withToken()).status).toBe(-1)
    expect((await allow()).status).toBe(0)
    await report(false)
    expect(await rows()).toHaveLength(1)
  })

  it('delay the next login, twice as long each time up to five seconds, until a success', async () => {
    const waits: number[] = []
    for (let i = 0; i < 4; i++) {
      await report(false)
      waits.push((await allow()).status)
    }
    // Postfix waits ten seconds for Dovecot (N4, B4.2).
    expect(waits).toEqual([2, 4, 5, 5])
    await report(true)
    expect((await allow()).status).toBe(0)
    app.clock.advance(901_000)
    expect((await allow()).status).toBe(0)
  })

  it('do not count when the database was away, or when the password was right (B4.3)', async () => {
    const own = await startApp({ limiting: true })
    const tenant = await own.tenant('acme')
    const failure = (login: string, matched: string) => {
      const sent = { login, remote: ip, protocol: 'imap', success: false, policy_reject: false }
      return ask(own, 'report', { ...sent, matched })
    }
    const counted = async () => {
      await own.limiter.flush()
      const query = own.core.db.selectFrom('failed_auth_attempts').select('username')
      return (await query.orderBy('username').execute()).map(({ username }) => username)
    }
    // The feed of this app has just connected, as after an outage.
    for (let i = 0; i < 10; i++) await failure(ALICE, '')
    expect(await counted()).toEqual([])
    await failure('unknown@acme.test', '')
    expect(await counted()).toEqual(['unknown@acme.test'])
    // A login may wait a minute for the database, so it fails long after the outage.
    own.clock.advance(60_000)
    const bob = 'bob@acme.test'
    const mailbox = { email: bob, password: PASSWORD }
    expect((await tenant.post('/api/v1/mailboxes/email-accounts', mailbox)).status).toBe(201)
    await failure(bob, '')
    expect(await counted()).not.toContain(bob)
    own.clock.advance(60_000)
    await failure(bob, '')
    expect(await counted()).toContain(bob)
    // The client of a login that waits for the database gives up, for example Postfix after ten seconds.
    await failure(ALICE, 'yes')
    expect(await counted()).not.toContain(ALICE)
    await own.stop()
  })

  it('are counted in one row per IP, account and service', async () => {
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

  it('block an account from one IP, and not from other IPs', async () => {
    await fail(5)
    expect(await allow()).toMatchObject({
      status: -1,
      msg: 'too many failed logins, try again later',
    })
    expect((await allow(ALICE, newIp())).status).toBe(0)
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

  it('block an IP that tries many accounts', async () => {
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

  it('from many IPs block an account, except where it has logged in before (S17)', async () => {
    const own = await startApp({
      limiting: true,
      env: { MAX_AUTH_FAILURES_PER_ACCOUNT: '12', AUTH_DELAY_SECS: '0' },
    })
    const operator = await own.operator('operator')
    const attempt = (remote: string, more: object = {}) =>
      ask(own, 'allow', { login: 'ceo@acme.test', remote, protocol: 'imap', ...more })
    const outcome = (remote: string, success: boolean) => {
      const sent = { login: 'ceo@acme.test', remote, protocol: 'imap', success }
      return ask(own, 'report', { ...sent, policy_reject: false })
    }
    await outcome('192.0.2.1', true)
    for (let i = 1; i <= 12; i++) await outcome(`198.51.100.${i}`, false)
    const refused = { status: -1, msg: 'too many failed logins, try again later' }
    expect(await attempt('203.0.113.77')).toMatchObject(refused)
    expect(await attempt('192.0.2.1')).toMatchObject({ status: 0 })
    // The control plane itself still opens the mailbox.
    expect(await attempt('203.0.113.77', { master: 'mailplane-filters' })).toMatchObject({
      status: 0,
    })
    await own.limiter.flush()
    const { body } = await operator.get('/api/v1/security/throttles?kind=account')
    expect(body.data.items).toMatchObject([
      { username: 'ceo@acme.test', service: 'mail_account', attempt_count: 12 },
    ])
    const lifted = await operator.post('/api/v1/security/throttles/lift', {
      username: 'ceo@acme.test',
      reason: 'The owner called',
    })
    expect(lifted.status).toBe(200)
    await waitFor(async () => (await attempt('203.0.113.77')).status === 0)
    await own.stop()
  })

  it('from one IPv6 /64 count together (S17)', async () => {
    for (let i = 1; i <= 8; i++) await fail(1, `user${i}@acme.test`, `2001:db8:5:5::${i}`)
    expect(await allow('other@acme.test', '2001:db8:5:5:ffff::1')).toMatchObject({ status: -1 })
    expect(await allow('other@acme.test', '2001:db8:5:6::1')).toMatchObject({ status: 0 })
    expect(await rows('2001:db8:5:5::/64')).toHaveLength(8)
  })

  it('from an exempt IP cause no block or delay, and are still stored', async () => {
    await fail(20, ALICE, '10.9.1.1')
    expect((await allow(ALICE, '10.9.1.1')).status).toBe(0)
    expect(await rows('10.9.1.1')).toMatchObject([{ attempt_count: 20, blocked_until: null }])
  })

  it('and blocks are still known after a restart', async () => {
    const blocked = newIp()
    await fail(4)
    await fail(5, ALICE, blocked)
    await app.limiter.flush()
    const again = await startApp({ limiting: true, database: app.database })
    try {
      again.clock.advance(app.clock.now().getTime() - Date.now())
      expect(
        (await ask(again, 'allow', { login: ALICE, remote: blocked, protocol: 'imap' })).status,
      ).toBe(-1)
    } finally {
      await again.stop()
    }
  })
})

describe('a successful login', () => {
  it('emits an event with the organization of the login', async () => {
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

  it('does not reset the failures of its IP on other accounts', async () => {
    for (let i = 0; i < 7; i++) await report(false, `victim${i}@acme.test`)
    await report(true)
    await report(false, 'victim8@acme.test')
    expect((await allow()).status).toBe(-1)
  })
})

describe("an operator's block", () => {
  it('applies to every protocol at once, and lifting it resets the delay', async () => {
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

describe('the reputation of a client IP', () => {
  const shown = async () => {
    await app.limiter.flush()
    const support = await app.operator('support')
    const { body } = await support.get(`/api/v1/reputation/ips?q=${ip}&sort_by=ip_address`)
    return body.data.items.find((row: { ip_address: string }) => row.ip_address === ip)
  }

  it('starts with the first login and changes with each further one', async () => {
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

  it('drops with failed logins, and includes the block until it is lifted', async () => {
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
