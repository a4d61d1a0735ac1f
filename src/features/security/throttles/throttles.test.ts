import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { waitFor } from '../../../../test/support/wait.ts'

const BASE = '/api/v1/security/throttles'
const WHY = { reason: 'Called us, is at the airport' }
let app: App
let operator: Awaited<ReturnType<App['operator']>>
beforeAll(async () => {
  app = await startApp()
  operator = await app.operator('operator')
})
afterAll(() => app.stop())

const login = (email: string, password = PASSWORD, from = newIp()) =>
  app.send('POST', '/api/v1/auth/login', { body: { email, password }, from })
const lift = (body: object) => operator.post(`${BASE}/lift`, { ...WHY, ...body })
const listed = async (query: string) =>
  (await operator.get(`${BASE}?${query}`)).body.data.items as Record<string, unknown>[]

describe('throttles and blocks in force', () => {
  it('can be listed and lifted by account (S14)', async () => {
    const { email } = await app.tenant('locked-out')
    for (let failure = 1; failure <= 3; failure++) await login(email, 'guess')
    expect((await login(email)).status).toBe(429)
    expect(await listed(`username=${email.toUpperCase()}`)).toEqual([
      {
        id: expect.any(String),
        kind: 'account',
        client_ip: null,
        username: email,
        service: 'api',
        origin: 'failures',
        attempt_count: 3,
        blocked_until: expect.any(String),
        last_attempt_at: expect.any(String),
      },
    ])
    expect(await lift({ username: ` ${email}` })).toMatchObject({
      status: 200,
      body: { data: { username: email, client_ip: null, lifted: 1 } },
    })
    // The failures before do not count any more.
    expect((await login(email, 'guess')).status).toBe(401)
    expect((await login(email)).status).toBe(200)
    expect(await lift({ username: email })).toMatchObject({
      status: 404,
      body: { msg: 'No active throttle or block found' },
    })
    const [row] = await waitFor(async () => {
      const rows = await app.core.db
        .selectFrom('operator_audit')
        .select(['operator_email', 'request_body'])
        .where('action', '=', 'lift_throttle')
        .where('status_code', '=', 200)
        .execute()
      return rows.length > 0 && rows
    })
    expect(row).toEqual({
      operator_email: operator.email,
      request_body: { ...WHY, username: ` ${email}` },
    })
  })

  it('can be listed and lifted by IP address', async () => {
    const { email } = await app.tenant('neighbour')
    const from = newIp()
    for (let failure = 1; failure <= 3; failure++) await login(`x${failure}@no.test`, 'guess', from)
    expect((await login(email, PASSWORD, from)).status).toBe(429)
    expect(await listed('kind=ip&service=api')).toMatchObject([{ client_ip: from, username: null }])
    expect(await lift({ client_ip: `::ffff:${from}` })).toMatchObject({
      body: { data: { client_ip: from, lifted: 1 } },
    })
    expect((await login(email, PASSWORD, from)).status).toBe(200)
    expect(await listed(`client_ip=${from}`)).toEqual([])
  })

  it('let an operator with another session free a locked operator', async () => {
    const locked = await app.operator('admin')
    const attempt = (password: string) =>
      app.send('POST', '/api/v1/platform/auth/login', {
        body: { email: locked.email, password },
        from: newIp(),
      })
    for (const _ of [1, 2]) expect((await attempt('guess')).status).toBe(401)
    // Two failures, by any client, do not refuse the right password (B3.7).
    expect((await attempt(PASSWORD)).status).toBe(200)
    for (const _ of [1, 2, 3]) expect((await attempt('guess')).status).toBe(401)
    expect((await attempt(PASSWORD)).status).toBe(429)
    expect((await lift({ username: locked.email })).status).toBe(200)
    expect((await attempt(PASSWORD)).status).toBe(200)
  })

  it('are lifted by exactly one of username and client_ip, with a reason', async () => {
    for (const body of [{}, { username: 'a', client_ip: '192.0.2.1' }, { client_ip: 'nonsense' }]) {
      expect((await lift(body)).status).toBe(422)
    }
    expect((await operator.post(`${BASE}/lift`, { username: 'a@b.test' })).status).toBe(422)
  })
})
