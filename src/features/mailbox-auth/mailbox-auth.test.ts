import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../../test/support/app.ts'
import { type ImapServer, startImapServer } from '../../../test/support/imap-server.ts'
import { probe } from '../../../test/support/probes.ts'
import { mailboxSession } from '../../access/labels.ts'
import { DAY_MS, SECOND_MS } from '../../lib/time.ts'
import { sha256 } from '../../lib/tokens.ts'

let app: App
let imap: ImapServer
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  imap = await startImapServer()
  app = await startApp({
    env: {
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      IMAP_AUTH_TIMEOUT: '1',
    },
    features: [probe('/test/mailbox', mailboxSession())],
  })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await imap.stop()
})
beforeEach(() => {
  imap.behaviour = 'accept'
  imap.logins.length = 0
  imap.passwords.clear()
})

const LOGIN = '/api/v1/mailbox-auth/login'
const PROBE = '/test/mailbox'
const WRONG = { status: 401, body: { msg: 'Invalid email or password' }, cookies: [] }

interface More {
  from?: string
  headers?: Record<string, string>
  jar?: Map<string, string>
}
const login = (email_address: string, password = 'right', more: More = {}) =>
  app.send('POST', LOGIN, { body: { email_address, password }, from: newIp(), ...more })
const failures = () => app.core.db.selectFrom('failed_auth_attempts').select('id').execute()

describe('a mailbox login', () => {
  it('returns 503 with msg and error when no mail server is configured', async () => {
    const bare = await startApp()
    try {
      const body = { email_address: 'jane@acme.test', password: 'right' }
      const answer = await bare.send('POST', LOGIN, { body })
      expect(answer).toMatchObject({ status: 503, cookies: [] })
      expect(answer.body).toEqual({
        type: 'error',
        msg: 'Mailbox login is not configured; set IMAP_HOST',
        error: 'Mailbox login is not configured; set IMAP_HOST',
        correlation_id: expect.stringMatching(/^req_/),
      })
    } finally {
      await bare.stop()
    }
  })

  it.each(['unavailable', 'hang', 'reset', 'garbage', 'no-greeting'] as const)(
    'returns 503 and counts no failure when the mail server fails with: %s',
    async (behaviour) => {
      imap.behaviour = behaviour
      const before = await failures()
      expect(await login(acme.email)).toMatchObject({
        status: 503,
        body: { type: 'error', msg: 'Mail server unavailable', error: 'Mail server unavailable' },
        cookies: [],
      })
      expect(await failures()).toEqual(before)
    },
  )

  it('returns one response for a wrong password, an unknown address and an inactive mailbox', async () => {
    imap.passwords.set(acme.email, 'right')
    expect(await login(acme.email, 'wrong')).toMatchObject(WRONG)
    imap.passwords.clear()
    expect(await login('nobody@acme.test')).toMatchObject(WRONG)
    const suspended = await app.tenant('suspended')
    await sql`update email_accounts set status = 'suspended' where id = ${suspended.accountId}`.execute(
      app.core.db,
    )
    expect(await login(suspended.email)).toMatchObject(WRONG)
    const closed = await app.tenant('closed')
    await sql`update organizations set active = false where id = ${closed.organizationId}`.execute(
      app.core.db,
    )
    expect(await login(closed.email)).toMatchObject(WRONG)
    // Every login reaches the mail server, so the response time reveals nothing.
    expect(imap.logins.map(({ user }) => user.toString())).toEqual([
      acme.email,
      'nobody@acme.test',
      suspended.email,
      closed.email,
    ])
  })

  it.each([
    [{}, ['email_address', 'password']],
    [{ email_address: '', password: '' }, ['email_address', 'password']],
    [{ email_address: 'x'.repeat(256), password: 'x'.repeat(1025) }, ['email_address', 'password']],
    [
      { email_address: 'a@b.test', password: 'x', two_factor_code: '1'.repeat(33) },
      ['two_factor_code'],
    ],
  ])('returns 422 with the missing or malformed fields: case %#', async (body, fields) => {
    const answer = await app.send('POST', LOGIN, { body, from: newIp() })
    expect(answer.status).toBe(422)
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).toEqual(fields)
    expect(imap.logins).toEqual([])
  })

  it('returns a session as cookies and as a token, and stores only hashes', async () => {
    const answer = await login(` ${acme.email.toUpperCase()} `, 'right', {
      headers: { 'x-client-platform': 'iOS' },
    })
    expect(answer).toMatchObject({ status: 200, body: { type: 'success', msg: 'Signed in' } })
    const { token, csrf_token, expires_at, ...rest } = answer.body.data
    expect(rest).toEqual({
      email_address: acme.email,
      email_account: { id: acme.accountId, email_address: acme.email, name: 'Admin' },
      must_change_password: false,
      password_change_reason: null,
      client_platform: 'ios',
      idle_timeout_seconds: 28_800,
    })
    const days = (Date.parse(expires_at) - app.clock.now().getTime()) / DAY_MS
    expect(days).toBeGreaterThan(6.99)
    expect(days).toBeLessThanOrEqual(7)
    expect(answer.cookies).toEqual([
      `svc_mailbox_session=${token}; Max-Age=604800; Path=/; HttpOnly; SameSite=Lax`,
      `svc_mailbox_csrf=${csrf_token}; Max-Age=604800; Path=/; SameSite=Lax`,
    ])
    const stored = await app.core.db
      .selectFrom('sessions')
      .selectAll()
      .where('token_hash', '=', sha256(token))
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(stored)).not.toContain(csrf_token)
    const account = await app.core.db
      .selectFrom('email_accounts')
      .select('last_login')
      .where('id', '=', acme.accountId)
      .executeTakeFirstOrThrow()
    expect(account.last_login).not.toBeNull()
  })

  it('opens a session that accepts the cookie and the bearer token', async () => {
    const jar = new Map<string, string>()
    const { token } = (await login(acme.email, 'right', { jar })).body.data
    expect((await app.send('GET', PROBE, { jar })).status).toBe(200)
    expect(
      (await app.send('GET', PROBE, { headers: { authorization: `Bearer ${token}` } })).status,
    ).toBe(200)
    expect((await app.send('GET', PROBE, { headers: { authorization: token } })).status).toBe(401)
  })

  it('ignores an unknown X-Client-Platform', async () => {
    const answer = await login(acme.email, 'right', { headers: { 'x-client-platform': 'amiga' } })
    expect(answer.body.data.client_platform).toBeNull()
  })

  it('returns whether and why the password must be changed', async () => {
    const tenant = await app.tenant('temporary')
    await sql`update email_accounts set must_change_password = true, password_change_reason = 'temporary'
      where id = ${tenant.accountId}`.execute(app.core.db)
    expect((await login(tenant.email)).body.data).toMatchObject({
      must_change_password: true,
      password_change_reason: 'temporary',
    })
  })

  it('sends any password to the mail server byte for byte', async () => {
    const password = ` "q" \\ {9}\r\n${'pässwörd-密码-🔑'.repeat(40)} `
    expect((await login(acme.email, password)).status).toBe(200)
    expect(imap.logins[0]?.password.equals(Buffer.from(password))).toBe(true)
  })
})

describe('the throttle of mailbox logins', () => {
  it.each([
    ['an account, from many IPs', () => ({ email: 'target@acme.test', from: undefined })],
    ['an IP, for many accounts', () => ({ email: undefined, from: newIp() })],
  ])(
    'blocks %s: 15 s after the 3rd failure, 30 s after the 4th, 15 minutes after the 5th',
    async (_who, pick) => {
      imap.behaviour = 'refuse'
      const { email, from } = pick()
      let count = 0
      const fail = () =>
        login(email ?? `account-${count++}@acme.test`, 'guess', from === undefined ? {} : { from })
      for (const [failures, seconds] of [
        [3, 15],
        [1, 30],
        [1, 900],
      ] as const) {
        for (let failure = 1; failure <= failures; failure++)
          expect((await fail()).status).toBe(401)
        const asked = imap.logins.length
        const blocked = await fail()
        expect(blocked).toMatchObject({
          status: 429,
          body: { msg: 'Too many failed attempts. Try again later.' },
        })
        expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(seconds - 10)
        expect(Number(blocked.headers['retry-after'])).toBeLessThanOrEqual(seconds)
        expect(imap.logins).toHaveLength(asked)
        app.clock.advance(seconds * SECOND_MS)
      }
    },
  )

  it('resets its count after a successful login', async () => {
    const tenant = await app.tenant('forgiven')
    imap.passwords.set(tenant.email, 'right')
    for (let round = 1; round <= 2; round++) {
      for (let failure = 1; failure <= 2; failure++) {
        expect((await login(tenant.email, 'wrong')).status).toBe(401)
      }
      expect((await login(tenant.email)).status).toBe(200)
    }
  })
})
