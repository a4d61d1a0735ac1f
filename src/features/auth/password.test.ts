import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const CHANGE = '/api/v1/auth/password'
const ME = '/api/v1/auth/me'
const NEW = 'a-new-passphrase-42'
const change = { current_password: PASSWORD, new_password: NEW }
const login = (email: string, password: string) =>
  app.send('POST', '/api/v1/auth/login', { body: { email, password }, from: newIp() })

describe('changing the own password', () => {
  it('is rejected for API keys', async () => {
    const tenant = await app.tenant('key')
    expect(await tenant.post(CHANGE, change)).toMatchObject({
      status: 400,
      body: { type: 'error' },
    })
    expect((await login(tenant.email, PASSWORD)).status).toBe(200)
  })

  it('requires the current password, and a wrong one counts as a failed login', async () => {
    const tenant = await app.tenant('wrong')
    const session = await app.session('dashboard', tenant.userId, { from: newIp() })
    const wrong = { ...change, current_password: 'not the password' }
    for (let failure = 1; failure <= 3; failure++) {
      expect(await session.post(CHANGE, wrong)).toMatchObject({
        status: 401,
        body: { msg: 'Invalid email or password' },
      })
    }
    expect((await session.post(CHANGE, change)).status).toBe(429)
    expect((await session.get(ME)).status).toBe(200)
    expect((await login(tenant.email, PASSWORD)).status).toBe(429)
  })

  it.each([
    ['short1', 'Password must be at least 12 characters long'],
    ['1234567890123', 'Password must contain letters'],
    ['only-letters-here', 'Password must contain numbers'],
    ['Password1234', 'Password is too common; choose something less predictable'],
    [`a1${'x'.repeat(1023)}`, 'Password must be at most 1024 characters long'],
  ])('rejects the new password %s', async (new_password, msg) => {
    const tenant = await app.tenant(`weak-${new_password.slice(0, 8).toLowerCase()}`)
    const session = await app.session('dashboard', tenant.userId)
    expect(await session.post(CHANGE, { ...change, new_password })).toMatchObject({
      status: 422,
      body: { msg, detail: [{ loc: ['body', 'new_password'], msg, type: 'value_error' }] },
    })
    expect((await login(tenant.email, PASSWORD)).status).toBe(200)
  })

  it('replaces the password and ends every session of the user but the current one', async () => {
    const [tenant, other] = [await app.tenant('changed'), await app.tenant('unchanged')]
    const own = await app.session('dashboard', tenant.userId)
    const elsewhere = await app.session('dashboard', tenant.userId)
    const stranger = await app.session('dashboard', other.userId)
    expect((await elsewhere.get(ME)).status).toBe(200)
    expect(await own.post(CHANGE, change)).toMatchObject({
      status: 200,
      body: { msg: 'Password changed' },
    })
    expect((await own.get(ME)).status).toBe(200)
    expect((await elsewhere.get(ME)).status).toBe(401)
    expect((await stranger.get(ME)).status).toBe(200)
    expect((await tenant.get(ME)).status).toBe(200)
    expect((await login(tenant.email, PASSWORD)).status).toBe(401)
    expect((await login(tenant.email, NEW)).status).toBe(200)
  })

  it('requires the CSRF token', async () => {
    const tenant = await app.tenant('csrf')
    const { jar } = await app.session('dashboard', tenant.userId)
    expect(await app.send('POST', CHANGE, { jar, body: change })).toMatchObject({
      status: 403,
      body: { msg: 'CSRF token missing or invalid' },
    })
  })
})
