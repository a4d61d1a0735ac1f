import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, newIp, startApp } from '../../test/support/app.ts'
import { ALICE, ask, logins, startAuthPolicy } from '../../test/support/auth-policy.ts'
import { waitFor } from '../../test/support/wait.ts'
import { edgeSecrets } from '../edge/settings-of.ts'
import { MINUTE_MS } from '../lib/time.ts'

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

describe('a master login', () => {
  const inactive = 'left@acme.test'
  beforeAll(async () => {
    const account = await acme.post('/api/v1/mailboxes/email-accounts', {
      email: inactive,
      password: 'Tr0ub4dor-and-3-horses',
    })
    await acme.put(`/api/v1/mailboxes/email-accounts/${account.body.data.id}`, {
      status: 'suspended',
    })
    await app.limiter.settled()
  })

  // B1.1: erasure and exports log in as mailboxes that were made inactive.
  it.each([
    ['before its password is verified', { user: 'mailplane-filters', master: '' }],
    ['after its password was verified', { user: inactive, master: 'mailplane-filters' }],
  ])('is allowed into an inactive mailbox %s', async (_when, more) => {
    const attempt = { login: inactive, remote: ip, protocol: 'sieve' }
    expect(await ask(app, 'allow', { ...attempt, ...more })).toMatchObject({ status: 0 })
  })

  it('is the only login allowed into an inactive mailbox', async () => {
    const attempt = { login: inactive, remote: ip, protocol: 'imap' }
    const refusal = { status: -1, msg: 'this login is not active' }
    expect(await ask(app, 'allow', attempt)).toMatchObject(refusal)
    expect(await ask(app, 'allow', { ...attempt, user: inactive, master: '' })).toMatchObject(
      refusal,
    )
  })

  it('the control plane logs in at once from a blocked IP address (B4.1)', async () => {
    for (let account = 0; account < 8; account++) await fail(1, `b${account}@acme.test`)
    expect((await allow()).status).toBe(-1)
    const attempt = { login: ALICE, remote: ip, protocol: 'sieve' }
    const own = { user: 'mailplane-filters', master: '' }
    expect(await ask(app, 'allow', { ...attempt, ...own })).toMatchObject({ status: 0 })
    const other = { user: 'another-master', master: '' }
    expect(await ask(app, 'allow', { ...attempt, ...other })).toMatchObject({ status: -1 })
  })

  it('is not reported as a login of the holder (B4.4)', async () => {
    await report(true, ALICE, ip, { protocol: 'sieve', master: 'mailplane-filters' })
    expect(await events()).toEqual([])
    await report(true, ALICE, ip, { protocol: 'sieve', master: '', user: ALICE })
    expect((await events()).map(({ event }) => event)).toEqual(['auth.login.success'])
  })
})

describe('an auth policy request', () => {
  it('is allowed without delay when no login has failed', async () => {
    expect(await allow()).toEqual({ code: 200, status: 0, msg: '' })
    expect(await allow('nobody@nowhere.test', '2001:db8::1', 'pop3')).toMatchObject({ status: 0 })
  })

  it.each<[string, string, RequestInit, number]>([
    ['another method', '?command=allow', { method: 'GET' }, 405],
    ['no command', '', { method: 'POST', body: '{}' }, 400],
    ['another command', '?command=destroy', { method: 'POST', body: '{}' }, 400],
    ['malformed JSON', '?command=allow', { method: 'POST', body: '{"login":' }, 400],
    ['a list', '?command=report', { method: 'POST', body: '[1]' }, 400],
    ['a body of 100 kB', '?command=report', { method: 'POST', body: 'x'.repeat(100_000) }, 413],
  ])('is rejected with %s', async (_what, query, init, status) => {
    const response = await fetch(`http://127.0.0.1:${app.limiter.policy.ports.auth}/${query}`, {
      ...init,
      headers: { 'x-edge-key': edgeSecrets(app.core.vault).policyKey },
    })
    expect(response.status).toBe(status)
  })

  it('accepts and stores any login name', async () => {
    const names = [
      '',
      'a\u0000b',
      '\ud800 lone',
      "'; drop table x --",
      'x'.repeat(5000),
      'Ünï@acme.test',
    ]
    for (const login of names) await report(false, login)
    await ask(app, 'report', { login: 7, remote: null, protocol: {}, success: 'yes' })
    const stored = await rows()
    expect(stored).toHaveLength(names.length)
    expect(stored.every(({ username }) => (username ?? '').length <= 255)).toBe(true)
  })
})

describe('an SMTP credential', () => {
  const create = async (username: string, more: object) =>
    (await acme.post('/api/v1/smtp-credentials/', { domain_id: acme.domainId, username, ...more }))
      .body.data

  it('is rejected after its expiry, also when Dovecot has cached it', async () => {
    const expires_at = new Date(app.clock.now().getTime() + MINUTE_MS).toISOString()
    await create('short-lived', { expires_at })
    expect((await allow('short-lived', ip, 'smtp')).status).toBe(0)
    app.clock.advance(61_000)
    expect(await allow('Short-Lived', ip, 'smtp')).toMatchObject({
      status: -1,
      msg: 'this login has expired',
    })
  })

  it('is rejected when it is revoked, and from IPs outside its allowlist', async () => {
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

describe('a clean stop of the auth policy server', () => {
  it('stores every login that was reported', async () => {
    const own = await startApp({ limiting: true })
    const attempt = { login: 'x@y.test', remote: '192.0.2.1', protocol: 'imap' }
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        ask(own, 'report', { ...attempt, success: i % 2 === 0, policy_reject: false }),
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

it.each(['127.0.0.1', '0.0.0.0'])(
  'the auth policy server on %s requires the edge key or the internal token (S5)',
  async (POLICY_HOST) => {
    const open = await startApp({ limiting: true, env: { POLICY_HOST } })
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
      expect(await ask({ authorization: `Bearer ${INTERNAL_TOKEN}` })).toBe(200)
    } finally {
      await open.stop()
    }
  },
)
