import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../test/support/app.ts'
import { probe } from '../../test/support/probes.ts'
import { MINUTE_MS, SECOND_MS } from '../lib/time.ts'
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

const failuresFrom = (ip: string) =>
  app.core.db.selectFrom('failed_auth_attempts').selectAll().where('client_ip', '=', ip).execute()

describe('an invalid API key', () => {
  const guess = (from: string, apiKey = 'no-such-key') =>
    app.send('GET', '/test/read', { headers: { 'x-api-key': apiKey }, from })

  it('is rejected with 401 and counted as a failure of the client IP', async () => {
    const from = newIp()
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

  it('blocks all keys from the client IP after 5 failures, and no other IP', async () => {
    const from = newIp()
    for (let failure = 1; failure <= 5; failure++) expect((await guess(from)).status).toBe(401)
    const blocked = await guess(from, acme.apiKey)
    expect(blocked).toMatchObject({
      status: 429,
      body: { type: 'error', msg: 'Too many failed attempts. Try again later.' },
    })
    expect(Number(blocked.headers['retry-after'])).toBeGreaterThan(10)
    expect(Number(blocked.headers['retry-after'])).toBeLessThanOrEqual(15)
    expect((await guess(newIp(), acme.apiKey)).status).toBe(200)
  })

  it('is not counted during a block, and the next block lasts twice as long', async () => {
    const from = newIp()
    for (let failure = 1; failure <= 5; failure++) await guess(from)
    for (let more = 1; more <= 3; more++) expect((await guess(from)).status).toBe(429)
    expect(await failuresFrom(from)).toMatchObject([{ attempt_count: 5 }])
    app.clock.advance(16 * SECOND_MS)
    expect((await guess(from)).status).toBe(401)
    const again = await guess(from)
    expect(again.status).toBe(429)
    expect(Number(again.headers['retry-after'])).toBeGreaterThan(20)
  })

  it('still counts after a valid key was used from the same IP', async () => {
    const from = newIp()
    const fresh = await app.key(acme.organizationId)
    for (let failure = 1; failure <= 4; failure++) await guess(from)
    expect((await guess(from, fresh.apiKey)).status).toBe(200)
    await guess(from)
    expect((await guess(from)).status).toBe(429)
  })

  it('no longer counts after a window of 5 minutes without failures', async () => {
    const from = newIp()
    for (let failure = 1; failure <= 4; failure++) await guess(from)
    app.clock.advance(5 * MINUTE_MS + SECOND_MS)
    for (let failure = 1; failure <= 4; failure++) expect((await guess(from)).status).toBe(401)
    expect((await guess(from, acme.apiKey)).status).toBe(200)
  })

  it('is limited to 5 failures in a burst of 12 concurrent requests', async () => {
    const from = newIp()
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => guess(from, `guess-${index}`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([
      ...Array(5).fill(401),
      ...Array(7).fill(429),
    ])
  })

  it('no longer blocks its client IP after the failure rows are deleted in the database', async () => {
    const from = newIp()
    for (let failure = 1; failure <= 5; failure++) await guess(from)
    expect((await guess(from, acme.apiKey)).status).toBe(429)
    await app.core.db.deleteFrom('failed_auth_attempts').where('client_ip', '=', from).execute()
    await expect.poll(async () => (await guess(from, acme.apiKey)).status).toBe(200)
  })

  it('is not counted when it is the right key of a suspended organization (B3.9)', async () => {
    const suspended = await app.tenant('suspended')
    await app.core.db
      .updateTable('organizations')
      .set({ active: false })
      .where('id', '=', suspended.organizationId)
      .execute()
    await app.core.access.settled()
    const from = newIp()
    for (let request = 1; request <= 25; request++) {
      expect(await guess(from, suspended.apiKey)).toMatchObject({
        status: 401,
        body: { msg: 'Invalid API key' },
      })
    }
    expect(await failuresFrom(from)).toEqual([])
    expect((await guess(from, acme.apiKey)).status).toBe(200)
  })
})

describe('an expired API key', () => {
  it('is rejected as expired and is not counted as a failure', async () => {
    const from = newIp()
    const expiring = await app.key(acme.organizationId, {
      expiresAt: new Date(app.clock.now().getTime() + MINUTE_MS),
    })
    expect((await expiring.get('/test/read', { from })).status).toBe(200)
    app.clock.advance(MINUTE_MS)
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(await expiring.get('/test/read', { from })).toMatchObject({
        status: 401,
        body: { msg: 'API key expired' },
      })
    }
    expect(await failuresFrom(from)).toEqual([])
  })
})

describe('the permissions of an API key', () => {
  it('allow only reads with read_only', async () => {
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    expect((await reader.get('/test/read')).status).toBe(200)
    for (const path of ['/test/write', '/test/admin']) {
      expect(await reader.post(path)).toMatchObject({
        status: 403,
        body: { type: 'error', msg: 'Write access required' },
      })
    }
  })

  it('allow reads and writes, but no admin routes, by default', async () => {
    expect((await acme.post('/test/write')).status).toBe(200)
    expect(await acme.post('/test/admin')).toMatchObject({
      status: 403,
      body: { msg: 'Admin access required' },
    })
  })

  it('allow reads, writes and admin routes with admin_access', async () => {
    const admin = await app.key(acme.organizationId, { permissions: { admin_access: true } })
    for (const path of ['/test/read', '/test/write', '/test/admin']) {
      expect((await admin.post(path)).status).toBe(200)
    }
  })

  it('allow no write with both read_only and admin_access', async () => {
    const odd = await app.key(acme.organizationId, {
      permissions: { read_only: true, admin_access: true },
    })
    expect(await odd.post('/test/admin')).toMatchObject({
      status: 403,
      body: { msg: 'Write access required' },
    })
  })

  it('allow platform routes with platform scope, but no operator routes', async () => {
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

  it('do not depend on a CSRF token', async () => {
    const answer = await app.send('POST', '/test/write', {
      headers: { 'x-api-key': acme.apiKey, 'x-csrf-token': 'wrong' },
    })
    expect(answer.status).toBe(200)
  })
})
