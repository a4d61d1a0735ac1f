import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newAddress, startApp } from '../../test/support/app.ts'
import { probe } from '../../test/support/probes.ts'
import { key } from './labels.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp({
    features: [
      probe('/test/read', key('read')),
      probe('/test/write', key('write')),
      probe('/test/admin', key('admin')),
    ],
  })
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())

const SECOND = 1000
const MINUTE = 60 * SECOND

const failuresFrom = (ip: string) =>
  app.core.db.selectFrom('failed_auth_attempts').selectAll().where('client_ip', '=', ip).execute()

describe('a key that is not valid', () => {
  const guess = (from: string, apiKey = 'no-such-key') =>
    app.send('GET', '/test/read', { headers: { 'x-api-key': apiKey }, from })

  it('is refused and counted against the address it came from', async () => {
    const from = newAddress()
    expect(await guess(from)).toMatchObject({ status: 401, body: { msg: 'Invalid API key' } })
    expect(await failuresFrom(from)).toMatchObject([
      {
        service: 'api_key',
        username: null,
        attempt_count: 1,
        failure_reason: 'invalid_credentials',
        blocked_until: null,
      },
    ])
  })

  it('closes the door to every key from that address with the 5th, and only to that address', async () => {
    const from = newAddress()
    for (let failure = 1; failure <= 5; failure++) expect((await guess(from)).status).toBe(401)
    const blocked = await guess(from, acme.apiKey)
    expect(blocked).toMatchObject({
      status: 429,
      body: { type: 'error', msg: 'Too many failed attempts. Try again later.' },
    })
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(10)
    expect(Number(blocked.headers['retry-after'])).toBeLessThanOrEqual(15)
    expect((await guess(newAddress(), acme.apiKey)).status).toBe(200)
  })

  it('is not counted while the door is closed, and the next wait is twice as long', async () => {
    const from = newAddress()
    for (let failure = 1; failure <= 5; failure++) await guess(from)
    for (let more = 1; more <= 3; more++) expect((await guess(from)).status).toBe(429)
    expect(await failuresFrom(from)).toMatchObject([{ attempt_count: 5 }])
    app.clock.advance(16 * SECOND)
    expect((await guess(from)).status).toBe(401)
    const again = await guess(from)
    expect(again.status).toBe(429)
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(20)
  })

  it('is not excused by a valid one in between', async () => {
    const from = newAddress()
    const fresh = await app.key(acme.organizationId)
    for (let failure = 1; failure <= 4; failure++) await guess(from)
    expect((await guess(from, fresh.apiKey)).status).toBe(200)
    await guess(from)
    expect((await guess(from)).status).toBe(429)
  })

  it('is forgotten when the window has passed without another', async () => {
    const from = newAddress()
    for (let failure = 1; failure <= 4; failure++) await guess(from)
    app.clock.advance(5 * MINUTE + SECOND)
    for (let failure = 1; failure <= 4; failure++) expect((await guess(from)).status).toBe(401)
    expect((await guess(from, acme.apiKey)).status).toBe(200)
  })

  it('cannot slip past the count in a burst', async () => {
    const from = newAddress()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => guess(from, `guess-${index}`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(401),
      ...Array(7).fill(429),
    ])
  })

  it('may be tried again at once after somebody lifted the block by hand', async () => {
    const from = newAddress()
    for (let failure = 1; failure <= 5; failure++) await guess(from)
    expect((await guess(from, acme.apiKey)).status).toBe(429)
    await app.core.db.deleteFrom('failed_auth_attempts').where('client_ip', '=', from).execute()
    await expect.poll(async () => (await guess(from, acme.apiKey)).status).toBe(200)
  })
})

describe('an expired key', () => {
  it('is told apart from an invalid one, and is not counted as a failure', async () => {
    const from = newAddress()
    const expiring = await app.key(acme.organizationId, {
      expiresAt: new Date(app.clock.now().getTime() + MINUTE),
    })
    expect((await expiring.get('/test/read', { from })).status).toBe(200)
    app.clock.advance(MINUTE)
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(await expiring.get('/test/read', { from })).toMatchObject({
        status: 401,
        body: { msg: 'API key expired' },
      })
    }
    expect(await failuresFrom(from)).toEqual([])
  })
})

describe('what a key may do', () => {
  it('is to read only, when it is a read-only one', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect((await reader.get('/test/read')).status).toBe(200)
    for (const path of ['/test/write', '/test/admin']) {
      expect(await reader.post(path)).toMatchObject({
        status: 403,
        body: { type: 'error', msg: 'Write access required' },
      })
    }
  })

  it('is to read and write, but not what asks for admin access', async () => {
    expect((await acme.post('/test/write')).status).toBe(200)
    expect(await acme.post('/test/admin')).toMatchObject({
      status: 403,
      body: { msg: 'Admin access required' },
    })
  })

  it('is everything on key routes with admin_access', async () => {
    const admin = await app.key(acme.organizationId, { permissions: { admin_access: true } })
    for (const path of ['/test/read', '/test/write', '/test/admin']) {
      expect((await admin.post(path)).status).toBe(200)
    }
  })

  it('never includes a write when it is read-only and has admin_access', async () => {
    const odd = await app.key(acme.organizationId, {
      permissions: { read_only: true, admin_access: true },
    })
    expect(await odd.post('/test/admin')).toMatchObject({
      status: 403,
      body: { msg: 'Write access required' },
    })
  })

  it('reaches across organizations with platform scope, without being an operator', async () => {
    const platform = await app.key(null, { scope: 'platform' })
    expect((await platform.post('/test/write')).status).toBe(200)
    expect((await platform.post('/api/v1/platform/auth/logout')).status).toBe(200)
    expect(await platform.get('/api/v1/platform/audit')).toMatchObject({
      status: 403,
      body: { msg: 'Insufficient operator role' },
    })
    const reader = await app.key(null, { scope: 'platform', permissions: { read_only: true } })
    expect((await reader.get('/test/read')).status).toBe(200)
    expect(await reader.post('/test/write')).toMatchObject({
      status: 403,
      body: { msg: 'Write access required' },
    })
  })

  it('never needs a CSRF token', async () => {
    const answer = await app.send('POST', '/test/write', {
      headers: { 'x-api-key': acme.apiKey, 'x-csrf-token': 'wrong' },
    })
    expect(answer.status).toBe(200)
  })
})
