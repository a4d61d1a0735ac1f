import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
  await app.tenant('acme')
})
afterAll(() => app.stop())

it('counts what is there and names the blocks that nothing can tell about', async () => {
  const support = await app.operator('support')
  await app.send('POST', '/api/v1/auth/login', {
    body: { email: 'x@acme.test', password: 'wrong' },
  })
  await app.send('GET', '/api/v1/platform/overview')
  const { status, body } = await support.get('/api/v1/platform/overview')
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    organizations: { total: 1, active: 1, suspended: 0, delta_7d: 1 },
    domains: { total: 1, delta_7d: 1 },
    mailboxes: { total: 1, delta_7d: 1 },
    storage: { used_bytes: 0, quota_bytes: 10737418240, used_percent: 0 },
    security: { failed_auth_24h: 1 },
    services: null,
  })
  expect(body.data.security.failed_auth_series).toHaveLength(24)
  expect(body.data.security.failed_auth_series.at(-1).count).toBe(1)
  const empty = Object.keys(body.data).filter((name) => body.data[name] === null)
  expect(body.data.degraded).toEqual(empty)
})
