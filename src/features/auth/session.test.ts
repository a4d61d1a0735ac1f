import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'
import { sha256 } from '../../lib/tokens.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const ME = '/api/v1/auth/me'
const ENDED = { status: 401, body: { msg: 'Session expired or invalid' } }
const CSRF = { status: 403, body: { type: 'error', msg: 'CSRF token missing or invalid' } }

describe('a successful dashboard login', () => {
  it('returns the user, sets both cookies, and stores neither of their values', async () => {
    const acme = await app.tenant('acme')
    const { login, jar } = await app.dashboard(` ${acme.email.toUpperCase()} `)
    expect(login).toMatchObject({
      status: 200,
      body: {
        type: 'success',
        data: {
          user: {
            id: acme.userId,
            email: acme.email,
            role: 'owner',
            organization_id: acme.organizationId,
          },
          organization: { id: acme.organizationId, name: 'acme' },
          capabilities: { edition: 'enterprise', capabilities: expect.arrayContaining(['health']) },
        },
      },
    })
    expect(JSON.stringify(login.body.data.user)).not.toMatch(/password|hash/)
    const [session, csrf] = login.cookies
    const attributes = `Max-Age=${(30 * DAY_MS) / 1000}; Path=/`
    expect(session).toMatch(
      new RegExp(`^svc_session=[\\w-]{43}; ${attributes}; HttpOnly; SameSite=Lax$`),
    )
    expect(csrf).toMatch(new RegExp(`^svc_csrf=[\\w-]{43}; ${attributes}; SameSite=Lax$`))

    const token = jar?.get('svc_session') as string
    const stored = await app.core.db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', acme.userId)
      .executeTakeFirstOrThrow()
    expect(stored.token_hash).toBe(sha256(token))
    expect(JSON.stringify(stored)).not.toContain(token)
    expect(JSON.stringify(stored)).not.toContain(jar?.get('svc_csrf'))
  })

  it('marks its cookies Secure unless that is disabled', async () => {
    const strict = await startApp({ env: { SVC_COOKIE_SECURE: '' } })
    try {
      const { email } = await strict.tenant('acme')
      const { login } = await strict.dashboard(email)
      expect(login.cookies).toHaveLength(2)
      for (const cookie of login.cookies) expect(cookie).toMatch(/; Secure; SameSite=Lax$/)
    } finally {
      await strict.stop()
    }
  })
})

describe('the identity of a caller', () => {
  it('is the user for a session and only the organization for an API key', async () => {
    const tenant = await app.tenant('who')
    const session = await app.session('dashboard', tenant.userId)
    expect((await session.get(ME)).body.data).toMatchObject({
      user: { id: tenant.userId, email: tenant.email, role: 'owner' },
      organization: { id: tenant.organizationId, name: 'who' },
      capabilities: { edition: 'enterprise' },
      auth_method: 'session',
    })
    expect((await tenant.get(ME)).body.data).toMatchObject({
      user: null,
      organization: { id: tenant.organizationId, name: 'who' },
      auth_method: 'api_key',
    })
  })

  it('comes from the API key, even an invalid one, when a dashboard cookie is sent too', async () => {
    const [one, other] = [await app.tenant('one'), await app.tenant('other')]
    const session = await app.session('dashboard', one.userId)
    const both = await session.get(ME, { headers: { 'x-api-key': other.apiKey } })
    expect(both.body.data).toMatchObject({
      organization: { id: other.organizationId },
      auth_method: 'api_key',
    })
    const bad = await session.get(ME, { headers: { 'x-api-key': 'garbage' } })
    expect(bad).toMatchObject({ status: 401, body: { msg: 'Invalid API key' } })
  })

  it('comes from a living operator cookie when an API key is sent too', async () => {
    const tenant = await app.tenant('third')
    const operator = await app.operator('support')
    const both = await operator.get(ME, { headers: { 'x-api-key': tenant.apiKey } })
    expect(both.body.data).toMatchObject({
      user: { id: operator.id, role: 'support' },
      organization: null,
      auth_method: 'session',
    })
  })

  it('comes from the key or dashboard session beside an ended operator cookie (B3.8)', async () => {
    const tenant = await app.tenant('beside-ended')
    const jar = new Map([['svc_operator_session', 'ended']])
    const withKey = await app.send('GET', ME, { jar, headers: { 'x-api-key': tenant.apiKey } })
    expect(withKey.body.data).toMatchObject({
      organization: { id: tenant.organizationId },
      auth_method: 'api_key',
    })
    expect(await app.send('GET', ME, { jar })).toMatchObject(ENDED)
    const session = await app.session('dashboard', tenant.userId)
    session.jar.set('svc_operator_session', 'ended')
    expect((await session.get(ME)).body.data.user).toMatchObject({ id: tenant.userId })
    expect(await session.get('/api/v1/platform/operators')).toMatchObject(ENDED)
  })

  it('is the dashboard user while an operator login waits for its second factor (B3.8)', async () => {
    const tenant = await app.tenant('beside-partial')
    const { email } = await app.operator('support')
    const { jar } = await app.partialOperator(email)
    const session = await app.session('dashboard', tenant.userId)
    for (const [name, value] of jar ?? []) session.jar.set(name, value)
    expect((await session.get(ME)).body.data.user).toMatchObject({ id: tenant.userId })
    expect(await session.get('/api/v1/platform/auth/me')).toMatchObject({
      status: 403,
      body: { msg: 'MFA required' },
    })
  })
})

describe('a dashboard session', () => {
  it('expires 8 hours after the last request', async () => {
    const { userId } = await app.tenant('idle')
    const session = await app.session('dashboard', userId)
    for (let request = 1; request <= 3; request++) {
      app.clock.advance(8 * HOUR_MS - 1000)
      expect((await session.get(ME)).status).toBe(200)
    }
    app.clock.advance(8 * HOUR_MS)
    expect(await session.get(ME)).toMatchObject(ENDED)
  })

  it('expires after 30 days, however often it is used', async () => {
    const { userId } = await app.tenant('absolute')
    const session = await app.session('dashboard', userId)
    for (let hours = 0; hours < 30 * 24 - 7; hours += 7) {
      app.clock.advance(7 * HOUR_MS)
      expect((await session.get(ME)).status).toBe(200)
    }
    app.clock.advance(7 * HOUR_MS)
    expect(await session.get(ME)).toMatchObject(ENDED)
  })

  it('is not extended by a rejected request', async () => {
    const { userId } = await app.tenant('refused')
    const session = await app.session('dashboard', userId)
    app.clock.advance(7 * HOUR_MS)
    expect((await session.get('/api/v1/platform/audit')).status).toBe(403)
    app.clock.advance(HOUR_MS)
    expect(await session.get(ME)).toMatchObject(ENDED)
  })

  it('ends with a logout, which clears both cookies', async () => {
    const { userId } = await app.tenant('logout')
    const session = await app.session('dashboard', userId)
    const before = new Map(session.jar)
    const answer = await session.post('/api/v1/auth/logout')
    expect(answer).toMatchObject({ status: 200, body: { type: 'success', msg: 'Logged out' } })
    expect(answer.body).not.toHaveProperty('data')
    expect(answer.cookies.sort()).toEqual([
      'svc_csrf=; Max-Age=0; Path=/; SameSite=Lax',
      'svc_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ])
    expect(await app.send('GET', ME, { jar: before })).toMatchObject(ENDED)
  })

  it('leaves no cookie behind when it has ended before the logout (B3.8)', async () => {
    const jar = new Map([
      ['svc_operator_session', 'ended'],
      ['svc_session', 'ended too'],
    ])
    const answer = await app.send('POST', '/api/v1/auth/logout', { jar })
    expect(answer.status).toBe(200)
    expect(answer.cookies.map((cookie) => cookie.split(';')[0]).sort()).toEqual([
      'svc_csrf=',
      'svc_operator_csrf=',
      'svc_operator_session=',
      'svc_session=',
    ])
    const operator = new Map([['svc_operator_session', 'ended']])
    const console = await app.send('POST', '/api/v1/platform/auth/logout', { jar: operator })
    expect(console).toMatchObject({ status: 200, body: { msg: 'Logged out' } })
    expect(operator.size).toBe(0)
  })

  it('is not ended by a logout with an API key', async () => {
    const tenant = await app.tenant('nothing')
    const answer = await tenant.post('/api/v1/auth/logout')
    expect(answer).toMatchObject({ status: 200, cookies: [] })
    expect((await tenant.get(ME)).status).toBe(200)
  })

  it('ends with revoke-all together with all sessions of the user and no other', async () => {
    const [tenant, other] = [await app.tenant('revoker'), await app.tenant('spared')]
    const own = await app.session('dashboard', tenant.userId)
    const elsewhere = await app.session('dashboard', tenant.userId)
    const stranger = await app.session('dashboard', other.userId)
    const before = new Map(own.jar)
    const answer = await own.post('/api/v1/auth/sessions/revoke-all')
    expect(answer.status).toBe(200)
    expect(own.jar.size).toBe(0)
    expect(await app.send('GET', ME, { jar: before })).toMatchObject(ENDED)
    expect(await elsewhere.get(ME)).toMatchObject(ENDED)
    expect((await stranger.get(ME)).status).toBe(200)
  })

  it('cannot be revoked in bulk with an API key', async () => {
    const tenant = await app.tenant('keyed')
    expect((await tenant.post('/api/v1/auth/sessions/revoke-all')).status).toBe(400)
  })
})

describe('the CSRF token of a dashboard session', () => {
  const LOGOUT = '/api/v1/auth/logout'

  it.each(['', 'wrong'])('must be echoed by a write; rejects "%s"', async (echoed) => {
    const { userId } = await app.tenant(`csrf-${echoed || 'empty'}`)
    const session = await app.session('dashboard', userId)
    expect(await session.post(LOGOUT, {}, { headers: { 'x-csrf-token': echoed } })).toMatchObject(
      CSRF,
    )
    expect((await session.get(ME)).status).toBe(200)
  })

  it('must be sent as a cookie and as a header', async () => {
    const { userId } = await app.tenant('csrf-both')
    const session = await app.session('dashboard', userId)
    const { token, csrfToken } = session
    expect(await app.send('POST', LOGOUT, { jar: session.jar })).toMatchObject(CSRF)
    const headers = { 'x-csrf-token': csrfToken }
    const jar = new Map([['svc_session', token]])
    expect(await app.send('POST', LOGOUT, { jar, headers })).toMatchObject(CSRF)
  })

  it('must belong to the session: a cookie and header pair of an attacker is rejected', async () => {
    const { userId } = await app.tenant('csrf-planted')
    const session = await app.session('dashboard', userId)
    const planted = new Map([...session.jar, ['svc_csrf', 'planted']])
    const answer = await app.send('POST', LOGOUT, {
      jar: planted,
      headers: { 'x-csrf-token': 'planted' },
    })
    expect(answer).toMatchObject(CSRF)
  })

  it('is not required to read or to sign in', async () => {
    const tenant = await app.tenant('csrf-read')
    const { jar } = await app.session('dashboard', tenant.userId)
    expect((await app.send('GET', ME, { jar })).status).toBe(200)
    const body = { email: tenant.email, password: PASSWORD }
    expect((await app.send('POST', '/api/v1/auth/login', { jar, body })).status).toBe(200)
  })
})
