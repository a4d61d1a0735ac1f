import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../test/support/app.ts'
import { sha256 } from '../../lib/tokens.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const HOUR = 3_600_000
const DAY = 24 * HOUR
const ME = '/api/v1/auth/me'
const ENDED = { status: 401, body: { msg: 'Session expired or invalid' } }
const CSRF = { status: 403, body: { type: 'error', msg: 'CSRF token missing or invalid' } }

describe('a dashboard login that succeeds', () => {
  it('tells who signed in, sets both cookies, and stores neither of their values', async () => {
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
            role: 'admin',
            organization_id: acme.organizationId,
          },
          organization: { id: acme.organizationId, name: 'acme' },
          capabilities: { edition: 'enterprise', capabilities: expect.arrayContaining(['health']) },
        },
      },
    })
    expect(login.text).not.toMatch(/password|hash/)
    const [session, csrf] = login.cookies
    const attributes = `Path=/; SameSite=Lax; Max-Age=${(30 * DAY) / 1000}`
    expect(session).toMatch(new RegExp(`^svc_session=[\\w-]{43}; ${attributes}; HttpOnly$`))
    expect(csrf).toMatch(new RegExp(`^svc_csrf=[\\w-]{43}; ${attributes}$`))

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

  it('marks its cookies Secure unless that is switched off', async () => {
    const strict = await startApp({ env: { SVC_COOKIE_SECURE: '' } })
    try {
      const { email } = await strict.tenant('acme')
      const { login } = await strict.dashboard(email)
      expect(login.cookies).toHaveLength(2)
      for (const cookie of login.cookies) expect(cookie).toMatch(/; Secure$/)
    } finally {
      await strict.stop()
    }
  })
})

describe('who a caller is', () => {
  it('is the user for a session and nobody but the organization for a key', async () => {
    const tenant = await app.tenant('who')
    const session = await app.session('dashboard', tenant.userId)
    expect((await session.get(ME)).body.data).toMatchObject({
      user: { id: tenant.userId, email: tenant.email, role: 'admin' },
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

  it('is decided by the key when a dashboard cookie is there too, even a bad key', async () => {
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

  it('is decided by the operator cookie when a key is there too, even an ended one', async () => {
    const tenant = await app.tenant('third')
    const operator = await app.operator('support')
    const both = await operator.get(ME, { headers: { 'x-api-key': tenant.apiKey } })
    expect(both.body.data).toMatchObject({
      user: { id: operator.id, role: 'support' },
      organization: null,
      auth_method: 'session',
    })
    const jar = new Map([['svc_operator_session', 'ended']])
    const ended = await app.send('GET', ME, { jar, headers: { 'x-api-key': tenant.apiKey } })
    expect(ended).toMatchObject(ENDED)
  })
})

describe('a dashboard session', () => {
  it('ends after 8 hours without a request, and every request moves that', async () => {
    const { userId } = await app.tenant('idle')
    const session = await app.session('dashboard', userId)
    for (let request = 1; request <= 3; request++) {
      app.clock.advance(8 * HOUR - 1000)
      expect((await session.get(ME)).status).toBe(200)
    }
    app.clock.advance(8 * HOUR)
    expect(await session.get(ME)).toMatchObject(ENDED)
  })

  it('ends after 30 days however often it is used', async () => {
    const { userId } = await app.tenant('absolute')
    const session = await app.session('dashboard', userId)
    for (let hours = 0; hours < 30 * 24 - 7; hours += 7) {
      app.clock.advance(7 * HOUR)
      expect((await session.get(ME)).status).toBe(200)
    }
    app.clock.advance(7 * HOUR)
    expect(await session.get(ME)).toMatchObject(ENDED)
  })

  it('does not move its expiry with a request that is refused', async () => {
    const { userId } = await app.tenant('refused')
    const session = await app.session('dashboard', userId)
    app.clock.advance(7 * HOUR)
    expect((await session.get('/api/v1/platform/audit')).status).toBe(403)
    app.clock.advance(HOUR)
    expect(await session.get(ME)).toMatchObject(ENDED)
  })

  it('ends with the logout, which clears both cookies', async () => {
    const { userId } = await app.tenant('logout')
    const session = await app.session('dashboard', userId)
    const before = new Map(session.jar)
    const answer = await session.post('/api/v1/auth/logout')
    expect(answer).toMatchObject({ status: 200, body: { type: 'success', msg: 'Logged out' } })
    expect(answer.body).not.toHaveProperty('data')
    expect(answer.cookies.sort()).toEqual([
      'svc_csrf=; Path=/; SameSite=Lax; Max-Age=0',
      'svc_session=; Path=/; SameSite=Lax; Max-Age=0; HttpOnly',
    ])
    expect(await app.send('GET', ME, { jar: before })).toMatchObject(ENDED)
  })

  it('is not what a key ends: its logout does nothing', async () => {
    const tenant = await app.tenant('nothing')
    const answer = await tenant.post('/api/v1/auth/logout')
    expect(answer).toMatchObject({ status: 200, cookies: [] })
    expect((await tenant.get(ME)).status).toBe(200)
  })

  it('ends with revoke-all, as do all others of the user and none of anybody else', async () => {
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

  it('cannot be revoked in bulk with a key, which has none', async () => {
    const tenant = await app.tenant('keyed')
    expect((await tenant.post('/api/v1/auth/sessions/revoke-all')).status).toBe(400)
  })
})

describe('the CSRF token of a dashboard session', () => {
  const LOGOUT = '/api/v1/auth/logout'

  it.each(['', 'wrong'])('must be echoed by a write; "%s" will not do', async (echoed) => {
    const { userId } = await app.tenant(`csrf-${echoed || 'empty'}`)
    const session = await app.session('dashboard', userId)
    expect(await session.post(LOGOUT, {}, { headers: { 'x-csrf-token': echoed } })).toMatchObject(
      CSRF,
    )
    expect((await session.get(ME)).status).toBe(200)
  })

  it('must be sent as cookie and as header', async () => {
    const { userId } = await app.tenant('csrf-both')
    const session = await app.session('dashboard', userId)
    const { token, csrfToken } = session
    expect(await app.send('POST', LOGOUT, { jar: session.jar })).toMatchObject(CSRF)
    const headers = { 'x-csrf-token': csrfToken }
    const jar = new Map([['svc_session', token]])
    expect(await app.send('POST', LOGOUT, { jar, headers })).toMatchObject(CSRF)
  })

  it('must be that of the session: a pair that an attacker planted will not do', async () => {
    const { userId } = await app.tenant('csrf-planted')
    const session = await app.session('dashboard', userId)
    const planted = new Map([...session.jar, ['svc_csrf', 'planted']])
    const answer = await app.send('POST', LOGOUT, {
      jar: planted,
      headers: { 'x-csrf-token': 'planted' },
    })
    expect(answer).toMatchObject(CSRF)
  })

  it('is not needed to read, nor to sign in', async () => {
    const tenant = await app.tenant('csrf-read')
    const { jar } = await app.session('dashboard', tenant.userId)
    expect((await app.send('GET', ME, { jar })).status).toBe(200)
    const body = { email: tenant.email, password: PASSWORD }
    expect((await app.send('POST', '/api/v1/auth/login', { jar, body })).status).toBe(200)
  })
})
