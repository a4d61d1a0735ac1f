import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../test/support/app.ts'
import { deleteLinksBefore } from '../../access/account-links.repository.ts'
import { DAY_MS, HOUR_MS } from '../../lib/time.ts'

const USERS = '/api/v1/users'
const FACTOR = '/api/v1/auth/two-factor'
const ME = '/api/v1/auth/me'
const NEW = 'a-new-passphrase-42'

let app: App
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  operator = await app.operator('admin')
})
afterAll(() => app.stop())

const accept = (link: string, password = NEW) =>
  app.send('POST', '/api/v1/auth/links/accept', {
    body: { token: link.split('#')[1], password },
  })
const login = (email: string, password = PASSWORD) =>
  app.send('POST', '/api/v1/auth/login', { body: { email, password }, from: newIp() })

describe('a password reset', () => {
  it('ends the sessions, forgets failed logins, and works for two hours', async () => {
    const tenant = await app.tenant('reset')
    const session = await app.session('dashboard', tenant.userId)
    const from = newIp()
    for (let failure = 1; failure <= 3; failure++) {
      const body = { email: tenant.email, password: 'guess' }
      await app.send('POST', '/api/v1/auth/login', { body, from })
    }
    expect((await login(tenant.email)).status).toBe(429)
    const path = `${USERS}/${tenant.userId}/password-reset`
    const old = (await operator.post(path)).body.data.link
    const { link } = (await operator.post(path)).body.data
    expect((await session.get(ME)).status).toBe(200)
    expect((await accept(old)).status).toBe(404)
    expect(await accept(link)).toMatchObject({
      status: 200,
      body: { data: { account: 'user', email: tenant.email } },
    })
    expect((await session.get(ME)).status).toBe(401)
    expect((await login(tenant.email, NEW)).status).toBe(200)
    const late = (await operator.post(path)).body.data.link
    app.clock.advance(2 * HOUR_MS + 1000)
    expect((await accept(late, PASSWORD)).status).toBe(404)
    app.clock.reset()
  })

  it('can be requested without a login, does not tell whether the address exists, and is limited', async () => {
    const tenant = await app.tenant('forgot')
    const from = newIp()
    const ask = (email: string) =>
      app.send('POST', '/api/v1/auth/password-reset', { body: { email }, from })
    const [known, unknown] = [await ask(tenant.email), await ask('none@nowhere.test')]
    expect({ ...known.body, correlation_id: '' }).toEqual({ ...unknown.body, correlation_id: '' })
    const links = () =>
      app.core.db
        .selectFrom('account_links')
        .selectAll()
        .where('user_id', '=', tenant.userId)
        .execute()
    const [first] = await links()
    expect(first).toMatchObject({ kind: 'password_reset' })
    await ask(tenant.email)
    expect(await links()).toMatchObject([{ id: first?.id }])
    for (let request = 4; request <= 10; request++) await ask('none@nowhere.test')
    expect((await ask('none@nowhere.test')).status).toBe(429)
    expect((await login(tenant.email)).status).toBe(200)
    await deleteLinksBefore(app.core.db, new Date(app.clock.now().getTime() + DAY_MS))
    expect(await links()).toEqual([])
  })

  it('has a page that runs only its own script and never sees the token', async () => {
    const page = await app.send('GET', '/api/v1/auth/link')
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const script = /<script>([\s\S]*)<\/script>/.exec(page.text)?.[1] ?? ''
    const hash = createHash('sha256').update(script).digest('base64')
    expect(page.headers['content-security-policy']).toContain(`script-src 'sha256-${hash}'`)
    expect(page.headers['content-security-policy']).not.toContain('unsafe')
    expect(page.headers['referrer-policy']).toBe('no-referrer')
  })
})

describe('the second factor of a user', () => {
  const enroll = async (session: Awaited<ReturnType<App['session']>>) => {
    const { secret, backup_codes } = (await session.post(`${FACTOR}/setup`)).body.data
    return { secret: secret as string, codes: backup_codes as string[] }
  }

  it('is asked for at the next login, and a partial session can do nothing else', async () => {
    const tenant = await app.tenant('factor')
    const session = await app.session('dashboard', tenant.userId)
    expect((await session.post(`${FACTOR}/verify`, { code: '123456' })).status).toBe(409)
    const { secret, codes } = await enroll(session)
    expect((await session.post(`${FACTOR}/verify`, { code: '000000' })).status).toBe(401)
    const code = app.code(secret)
    expect((await session.post(`${FACTOR}/verify`, { code })).status).toBe(200)
    expect((await session.get(FACTOR)).body.data).toMatchObject({
      enabled: true,
      required: false,
      backup_codes_left: 8,
    })
    const half = await app.dashboard(tenant.email)
    expect(half.login.body.data).toMatchObject({
      two_factor_required: true,
      two_factor_enrolled: true,
    })
    const partial = { status: 403, body: { msg: 'MFA required' } }
    expect(await half.get(ME)).toMatchObject(partial)
    expect(await half.get('/api/v1/domains/')).toMatchObject(partial)
    expect(await half.post(`${FACTOR}/disable`, { code: codes[0] })).toMatchObject(partial)
    expect((await half.post(`${FACTOR}/setup`)).status).toBe(409)
    expect((await half.post(`${FACTOR}/verify`, { code })).status).toBe(401)
    const before = new Map(half.jar)
    expect((await half.post(`${FACTOR}/verify`, { code: codes[0] })).status).toBe(200)
    expect((await half.get(ME)).status).toBe(200)
    expect((await app.send('GET', ME, { jar: before })).status).toBe(401)
    expect((await half.post(`${FACTOR}/disable`, { code: codes[1] })).status).toBe(200)
    expect((await login(tenant.email)).body.data.two_factor_required).toBe(false)
  })

  it('is throttled, and the password does not clear the wrong codes', async () => {
    const tenant = await app.tenant('guessed')
    const session = await app.session('dashboard', tenant.userId)
    const { secret } = await enroll(session)
    await session.post(`${FACTOR}/verify`, { code: app.code(secret) })
    const from = newIp()
    const half = await app.dashboard(tenant.email, from)
    for (let failure = 1; failure <= 3; failure++) {
      expect((await half.post(`${FACTOR}/verify`, { code: '000000' })).status).toBe(401)
    }
    const again = await app.dashboard(tenant.email, newIp())
    expect(again.login.status).toBe(200)
    expect((await again.post(`${FACTOR}/verify`, { code: app.code(secret, 1) })).status).toBe(429)
  })

  it('can be required: others are signed out and set one up at the next login', async () => {
    const tenant = await app.tenant('required')
    const owner = await app.session('dashboard', tenant.userId)
    const invited = await operator.post(`${USERS}/`, {
      email: 'second@required.test',
      organization_id: tenant.organizationId,
    })
    await accept(invited.body.data.link, PASSWORD)
    const other = await app.dashboard('second@required.test')
    const policy = { require_two_factor: true }
    expect(await owner.put(`${USERS}/policy`, policy)).toMatchObject({
      status: 409,
      body: { error_code: 'OWN_TWO_FACTOR_MISSING' },
    })
    const { secret, codes } = await enroll(owner)
    await owner.post(`${FACTOR}/verify`, { code: app.code(secret) })
    expect((await owner.put(`${USERS}/policy`, policy)).body.data).toMatchObject({
      require_two_factor: true,
      users_without_two_factor: 1,
    })
    expect((await owner.get(ME)).status).toBe(200)
    expect((await other.get(ME)).status).toBe(401)
    const half = await app.dashboard('second@required.test')
    expect(half.login.body.data).toMatchObject({
      two_factor_required: true,
      two_factor_enrolled: false,
    })
    expect((await half.get('/api/v1/domains/')).status).toBe(403)
    const setup = await half.post(`${FACTOR}/setup`)
    const code = app.code(setup.body.data.secret)
    expect((await half.post(`${FACTOR}/verify`, { code })).status).toBe(200)
    expect((await half.get('/api/v1/domains/')).status).toBe(200)
    expect(await owner.post(`${FACTOR}/disable`, { code: codes[0] })).toMatchObject({
      status: 409,
      body: { error_code: 'TWO_FACTOR_REQUIRED' },
    })
    const enabled = await app.core.db
      .selectFrom('events')
      .select('event')
      .where('org_id', '=', tenant.organizationId)
      .where('event', '=', 'auth.totp.enabled')
      .execute()
    expect(enabled).toHaveLength(2)
  })

  it('is cleared by an owner or an operator, which ends the sessions', async () => {
    const tenant = await app.tenant('lost')
    const session = await app.session('dashboard', tenant.userId)
    const { secret } = await enroll(session)
    await session.post(`${FACTOR}/verify`, { code: app.code(secret) })
    const path = `${USERS}/${tenant.userId}/two-factor-reset`
    expect((await session.post(path)).status).toBe(403)
    expect((await operator.post(path)).body.data).toMatchObject({
      two_factor_cleared: true,
      sessions_revoked: 1,
    })
    expect((await session.get(ME)).status).toBe(401)
    expect((await login(tenant.email)).body.data.two_factor_required).toBe(false)
  })
})

describe('sessions of users', () => {
  it('are listed and revoked by their user and by administrators', async () => {
    const tenant = await app.tenant('sessions')
    const [one, two, three] = [
      await app.session('dashboard', tenant.userId),
      await app.session('dashboard', tenant.userId),
      await app.session('dashboard', tenant.userId),
    ]
    const own = await one.get('/api/v1/auth/sessions')
    expect(own.body.data.pagination.total).toBe(3)
    expect(
      own.body.data.items.filter(({ is_current }: { is_current: boolean }) => is_current),
    ).toMatchObject([{ id: one.id }])
    expect((await one.delete(`/api/v1/auth/sessions/${two.id}`)).status).toBe(200)
    expect((await two.get(ME)).status).toBe(401)
    expect((await one.delete(`/api/v1/auth/sessions/${two.id}`)).status).toBe(404)
    const stranger = await app.session('dashboard', (await app.tenant('strange')).userId)
    expect((await stranger.delete(`/api/v1/auth/sessions/${three.id}`)).status).toBe(404)
    const path = `${USERS}/${tenant.userId}/sessions`
    expect((await operator.get(path)).body.data.items).toHaveLength(2)
    expect((await operator.delete(`${path}/${three.id}`)).status).toBe(200)
    expect((await three.get(ME)).status).toBe(401)
    expect((await operator.post(`${path}/revoke`)).body.data.revoked).toBe(1)
    expect((await one.get(ME)).status).toBe(401)
  })
})
