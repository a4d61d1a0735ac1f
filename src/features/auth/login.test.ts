import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../test/support/app.ts'
import { MINUTE_MS, SECOND_MS } from '../../lib/time.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const login = (email: string, password = PASSWORD, from = newIp()) =>
  app.send('POST', '/api/v1/auth/login', { body: { email, password }, from })
const attemptsOf = (column: 'client_ip' | 'username', value: string) =>
  app.core.db
    .selectFrom('failed_auth_attempts')
    .select(['service', 'client_ip', 'username', 'attempt_count'])
    .where(column, '=', value)
    .execute()

describe('a failed dashboard login', () => {
  it('returns one 401 for unknown address, wrong password, inactive user and suspended organization', async () => {
    const [wrong, inactive, suspended] = [
      await app.tenant('wrong'),
      await app.tenant('inactive'),
      await app.tenant('suspended'),
    ]
    await sql`update dashboard_users set is_active = false where id = ${inactive.userId}`.execute(
      app.core.db,
    )
    await sql`update organizations set active = false where id = ${suspended.organizationId}`.execute(
      app.core.db,
    )
    const answers = [
      await login('nobody@nowhere.test'),
      await login(wrong.email, 'not the password'),
      await login(inactive.email),
      await login(suspended.email),
    ]
    for (const { status, body, cookies } of answers) {
      expect({ status, cookies, body: { ...body, correlation_id: '' } }).toEqual({
        status: 401,
        cookies: [],
        body: { type: 'error', msg: 'Invalid email or password', correlation_id: '' },
      })
    }
  })

  it('takes as long as a password check for an unknown address', async () => {
    const { email } = await app.tenant('timing')
    const fastest = async (address: string) => {
      let best = Number.POSITIVE_INFINITY
      for (let round = 0; round < 4; round++) {
        const start = performance.now()
        expect((await login(address, 'not the password')).status).toBe(401)
        best = Math.min(best, performance.now() - start)
        app.clock.advance(16 * MINUTE_MS)
      }
      return best
    }
    // Hashing takes most of the time of a login; without it a request takes a tenth.
    expect(await fastest('nobody@nowhere.test')).toBeGreaterThan((await fastest(email)) / 3)
  })

  it.each([
    [{}, ['email', 'password']],
    [{ email: 'a@b.test' }, ['password']],
    [{ email: 7, password: 'x' }, ['email']],
    [{ email: 'x'.repeat(255), password: 'x'.repeat(1025) }, ['email', 'password']],
  ])('names the missing or malformed fields: case %#', async (body, fields) => {
    const answer = await app.send('POST', '/api/v1/auth/login', { body, from: newIp() })
    expect(answer.status).toBe(422)
    expect(answer.body.detail.map(({ loc }: { loc: string[] }) => loc)).toEqual(
      fields.map((field) => ['body', field]),
    )
  })

  it('is counted once for the IP address and once for the account', async () => {
    const { email } = await app.tenant('rows')
    const from = newIp()
    await login(email.toUpperCase(), 'not the password', from)
    expect(await attemptsOf('client_ip', from)).toEqual([
      { service: 'api', client_ip: from, username: null, attempt_count: 1 },
    ])
    expect(await attemptsOf('username', email)).toEqual([
      { service: 'api', client_ip: '', username: email, attempt_count: 1 },
    ])
  })
})

describe('the throttle of dashboard logins', () => {
  /** Fails this often, then returns the Retry-After of the next attempt, or 0. */
  const waitAfter = async (failures: number, fail: () => ReturnType<typeof login>) => {
    for (let failure = 1; failure <= failures; failure++) expect((await fail()).status).toBe(401)
    const blocked = await fail()
    if (blocked.status !== 429) return 0
    expect(blocked.body.msg).toBe('Too many failed attempts. Try again later.')
    return Number(blocked.headers['retry-after'])
  }

  it.each([
    ['an account, from many addresses', () => ({ email: 'target@nowhere.test', from: undefined })],
    ['an address, for many accounts', () => ({ email: undefined, from: newIp() })],
  ])(
    'rejects logins of %s for 15 s after the 3rd failure, 30 s after the 4th, 15 minutes after the 5th',
    async (_who, pick) => {
      const { email, from } = pick()
      let count = 0
      const fail = () => login(email ?? `account-${count++}@nowhere.test`, 'guess', from)

      const third = await waitAfter(3, fail)
      expect(third).toBeGreaterThan(10)
      expect(third).toBeLessThanOrEqual(15)
      app.clock.advance(15 * SECOND_MS)
      const fourth = await waitAfter(1, fail)
      expect(fourth).toBeGreaterThan(20)
      expect(fourth).toBeLessThanOrEqual(30)
      app.clock.advance(30 * SECOND_MS)
      const fifth = await waitAfter(1, fail)
      expect(fifth).toBeGreaterThan(890)
      expect(fifth).toBeLessThanOrEqual(900)
    },
  )

  it('rejects the right password too, does not count rejected attempts, and expires', async () => {
    const { email } = await app.tenant('locked')
    for (let failure = 1; failure <= 3; failure++) await login(email, 'guess')
    for (let more = 1; more <= 4; more++) expect((await login(email)).status).toBe(429)
    expect(await attemptsOf('username', email)).toMatchObject([{ attempt_count: 3 }])
    app.clock.advance(15 * SECOND_MS)
    expect((await login(email)).status).toBe(200)
  })

  it('is reset by a successful login for its own account, not for the IP address (S14)', async () => {
    const { email } = await app.tenant('forgiven')
    const from = newIp()
    for (let failure = 1; failure <= 2; failure++) await login(email, 'guess', from)
    expect((await login(email, PASSWORD, from)).status).toBe(200)
    expect(await attemptsOf('username', email)).toEqual([])
    expect(await attemptsOf('client_ip', from)).toMatchObject([{ attempt_count: 2 }])
    expect((await login('victim@nowhere.test', 'guess', from)).status).toBe(401)
    expect((await login(email, PASSWORD, from)).status).toBe(429)
  })

  it('counts the failures of the last 15 minutes, however long the run is (B3.7)', async () => {
    const email = 'slow@nowhere.test'
    for (let failure = 1; failure <= 8; failure++) {
      expect((await login(email, 'guess')).status).toBe(401)
      app.clock.advance(8 * MINUTE_MS)
    }
    expect(await attemptsOf('username', email)).toMatchObject([{ attempt_count: 8 }])
  })

  it('counts the IPv6 addresses of one /64 together (S17)', async () => {
    const behindProxy = await startApp({ env: { SVC_TRUSTED_PROXIES: '127.0.0.1' } })
    const guess = (address: string, index: number) =>
      behindProxy.send('POST', '/api/v1/auth/login', {
        body: { email: `guess-${index}@nowhere.test`, password: 'guess' },
        headers: { 'x-forwarded-for': address },
      })
    for (const index of [1, 2, 3]) {
      expect((await guess(`2001:db8:0:1::${index}`, index)).status).toBe(401)
    }
    expect((await guess('2001:db8:0:1:ffff::4', 4)).status).toBe(429)
    expect((await guess('2001:db8:0:2::4', 4)).status).toBe(401)
    await behindProxy.stop()
  })

  it('is reset 15 minutes after the last failure', async () => {
    const { email } = await app.tenant('patient')
    for (let failure = 1; failure <= 2; failure++) await login(email, 'guess')
    app.clock.advance(15 * MINUTE_MS + SECOND_MS)
    for (let failure = 1; failure <= 2; failure++) {
      expect((await login(email, 'guess')).status).toBe(401)
    }
    expect((await login(email)).status).toBe(200)
  })

  it('counts each of many concurrent guesses', async () => {
    const { email } = await app.tenant('burst')
    const guesses = Array.from({ length: 10 }, (_, index) => login(email, `guess ${index}`))
    const statuses = (await Promise.all(guesses)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([...Array(3).fill(401), ...Array(7).fill(429)])
  })

  it('ignores a forged X-Forwarded-For', async () => {
    const from = newIp()
    const forged = (index: number) =>
      app.send('POST', '/api/v1/auth/login', {
        body: { email: `forged-${index}@nowhere.test`, password: 'guess' },
        headers: { 'x-forwarded-for': `203.0.113.${index}` },
        from,
      })
    for (const index of [1, 2, 3]) expect((await forged(index)).status).toBe(401)
    expect((await forged(4)).status).toBe(429)
  })

  it('does not throttle operator logins', async () => {
    const from = newIp()
    for (let failure = 1; failure <= 3; failure++) await login('x@nowhere.test', 'guess', from)
    const operator = await app.send('POST', '/api/v1/platform/auth/login', {
      body: { email: 'x@nowhere.test', password: 'guess' },
      from,
    })
    expect(operator.status).toBe(401)
  })
})
