import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/time.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const AUTH = '/api/v1/platform/auth'
const ENDED = { status: 401, body: { msg: 'Session expired or invalid' } }

const login = (email: string, password = PASSWORD, from = newIp()) =>
  app.send('POST', `${AUTH}/login`, { body: { email, password }, from })

describe('the password step of an operator login', () => {
  it('returns equal responses for an unknown e-mail address, a wrong password and an inactive operator', async () => {
    const [active, inactive] = [await app.operator('admin'), await app.operator('admin')]
    await sql`update operators set is_active = false where id = ${inactive.id}`.execute(app.core.db)
    for (const { status, body, cookies } of [
      await login('nobody@ops.test'),
      await login(active.email, 'not the password'),
      await login(inactive.email),
    ]) {
      expect({ status, cookies, body: { ...body, correlation_id: '' } }).toEqual({
        status: 401,
        cookies: [],
        body: { type: 'error', msg: 'Invalid email or password', correlation_id: '' },
      })
    }
  })

  it('blocks logins for 15 minutes after three failures, and not before (B3.7)', async () => {
    const { email } = await app.operator('admin')
    for (const _ of [1, 2]) expect((await login(email, 'guess')).status).toBe(401)
    expect((await login(email)).status).toBe(200)
    for (const _ of [1, 2, 3]) expect((await login(email, 'guess')).status).toBe(401)
    const blocked = await login(email)
    expect(blocked).toMatchObject({
      status: 429,
      body: { msg: 'Too many failed attempts. Try again later.' },
    })
    const retryAfter = Number(blocked.headers['retry-after'])
    expect(retryAfter).toBeGreaterThan(890)
    expect(retryAfter).toBeLessThanOrEqual(900)
    app.clock.advance(15 * MINUTE_MS)
    expect((await login(email)).status).toBe(200)
  })

  it('sets both cookies and returns whether a second factor is enrolled', async () => {
    const operator = await app.operator('admin')
    const answer = await login(` ${operator.email.toUpperCase()} `)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'Password verified -- MFA required',
        data: {
          operator: { id: operator.id, email: operator.email, role: 'admin' },
          mfa_required: true,
          mfa_enrolled: true,
        },
      },
    })
    expect(answer.cookies).toEqual([
      expect.stringMatching(
        /^svc_operator_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(/^svc_operator_csrf=[\w-]{43}; Max-Age=43200; Path=\/; SameSite=Lax$/),
    ])
  })
})

describe('a partial operator session', () => {
  it('permits only the MFA endpoints and the logout', async () => {
    const { id } = await app.operator('owner')
    const partial = await app.session('operator', id, { partial: true, from: newIp() })
    for (const path of [`${AUTH}/me`, '/api/v1/platform/operators', '/api/v1/auth/me']) {
      expect(await partial.get(path)).toMatchObject({ status: 403, body: { msg: 'MFA required' } })
    }
    expect((await partial.post(`${AUTH}/mfa/setup`)).status).toBe(409)
    expect((await partial.post(`${AUTH}/mfa`, { token: '000000' })).body.msg).toBe(
      'Invalid MFA code',
    )
    const before = new Map(partial.jar)
    expect(await partial.post(`${AUTH}/logout`)).toMatchObject({
      status: 200,
      body: { msg: 'Logged out' },
    })
    expect(partial.jar.size).toBe(0)
    expect(await app.send('POST', `${AUTH}/mfa/setup`, { jar: before })).toMatchObject(ENDED)
  })

  it('expires after 10 minutes even when it is used', async () => {
    const { id } = await app.operator('owner')
    const partial = await app.session('operator', id, { partial: true })
    app.clock.advance(10 * MINUTE_MS - SECOND_MS)
    expect((await partial.post(`${AUTH}/mfa/setup`)).status).toBe(409)
    await app.core.access.identities.flush()
    app.clock.advance(SECOND_MS)
    expect(await partial.post(`${AUTH}/mfa/setup`)).toMatchObject(ENDED)
  })

  it('requires its CSRF token and its own IP address', async () => {
    const { id } = await app.operator('owner')
    const { jar, post } = await app.session('operator', id, { partial: true })
    expect(await app.send('POST', `${AUTH}/mfa`, { jar, body: { token: '000000' } })).toMatchObject(
      { status: 403, body: { msg: 'CSRF token missing or invalid' } },
    )
    expect(await post(`${AUTH}/mfa/setup`, {}, { from: newIp() })).toMatchObject({
      status: 401,
      body: { msg: 'Operator session IP mismatch' },
    })
  })
})

describe('a full operator session', () => {
  it('returns the id, e-mail address and role of the operator', async () => {
    const { id, email, get } = await app.operator('support')
    expect(await get(`${AUTH}/me`)).toMatchObject({
      status: 200,
      body: { msg: 'OK', data: { operator_id: id, email, role: 'support' } },
    })
  })

  it('expires after 4 hours without a request; each request extends it', async () => {
    const { id } = await app.operator('support')
    const session = await app.session('operator', id)
    app.clock.advance(4 * HOUR_MS - SECOND_MS)
    expect((await session.get(`${AUTH}/me`)).status).toBe(200)
    app.clock.advance(4 * HOUR_MS - SECOND_MS)
    expect((await session.get(`${AUTH}/me`)).status).toBe(200)
    app.clock.advance(4 * HOUR_MS)
    expect(await session.get(`${AUTH}/me`)).toMatchObject(ENDED)
  })

  it('expires 12 hours after the password step even when it is used', async () => {
    const operator = await app.operator('support')
    for (let hours = 3; hours < 12; hours += 3) {
      app.clock.advance(3 * HOUR_MS)
      expect((await operator.get(`${AUTH}/me`)).status).toBe(200)
    }
    app.clock.advance(3 * HOUR_MS)
    expect(await operator.get(`${AUTH}/me`)).toMatchObject(ENDED)
  })

  it('is bound to the IP address of the login', async () => {
    const { get } = await app.operator('owner')
    expect(await get(`${AUTH}/me`, { from: newIp() })).toMatchObject({
      status: 401,
      body: { msg: 'Operator session IP mismatch' },
    })
    expect((await get(`${AUTH}/me`)).status).toBe(200)
  })

  it('ends with the logout, which requires the CSRF token', async () => {
    const { jar, post } = await app.operator('owner')
    const before = new Map(jar)
    expect((await app.send('POST', `${AUTH}/logout`, { jar: before })).status).toBe(403)
    const answer = await post(`${AUTH}/logout`)
    expect(answer.cookies.sort()).toEqual([
      'svc_operator_csrf=; Max-Age=0; Path=/; SameSite=Lax',
      'svc_operator_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
    ])
    expect(await app.send('GET', `${AUTH}/me`, { jar: before })).toMatchObject(ENDED)
  })

  it('applies a role change or a deactivation from the next request on', async () => {
    const owner = await app.operator('owner')
    const other = await app.operator('owner')
    const path = `/api/v1/platform/operators/${other.id}`
    expect((await other.get(path)).status).toBe(200)
    expect((await owner.put(path, { role: 'support' })).status).toBe(200)
    expect(await other.get(path)).toMatchObject({
      status: 403,
      body: { msg: 'Insufficient operator role' },
    })
    expect((await other.get(`${AUTH}/me`)).body.data.role).toBe('support')
    expect((await owner.put(path, { is_active: false })).status).toBe(200)
    expect(await other.get(`${AUTH}/me`)).toMatchObject(ENDED)
    expect((await owner.put(path, { is_active: true })).status).toBe(200)
    expect(await other.get(`${AUTH}/me`)).toMatchObject(ENDED)
    expect((await login(other.email)).status).toBe(200)
  })
})
