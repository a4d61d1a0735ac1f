import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { QueueAway } from '../../../mail/mail-queue.ts'
import { bounceRate } from './blocks/volume.ts'
import { overviewService } from './overview.service.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
  await app.tenant('acme')
})
afterAll(() => app.stop())

it('is null and named where something cannot be told, and whole everywhere else', async () => {
  const core = {
    ...app.core,
    config: { ...app.core.config, POSTFIX_CONFIG_DIR: '/nowhere' },
    mailQueue: {
      ...app.core.mailQueue,
      walk: async () => {
        throw new QueueAway('Postfix is stopped')
      },
    },
  }
  const page = await overviewService(core).get()
  expect(page).toMatchObject({
    queue: null,
    domains: { total: 1 },
    degraded: ['services', 'queue'],
  })
})

it('does not wait for a block that hangs', async () => {
  const core = {
    ...app.core,
    config: { ...app.core.config, POSTFIX_CONFIG_DIR: '/nowhere' },
    mailQueue: { ...app.core.mailQueue, walk: () => new Promise<never>(() => {}) },
  }
  const begun = Date.now()
  const page = await overviewService(core).get()
  expect(page.degraded).toContain('queue')
  expect(Date.now() - begun).toBeLessThan(5000)
})

it('computes once for all who ask at the same time', async () => {
  let walks = 0
  const core = {
    ...app.core,
    config: { ...app.core.config, POSTFIX_CONFIG_DIR: '/nowhere' },
    mailQueue: {
      ...app.core.mailQueue,
      walk: async () => {
        walks++
        return undefined
      },
    },
  }
  const overview = overviewService(core)
  await Promise.all(Array.from({ length: 20 }, () => overview.get()))
  await overview.get()
  expect(walks).toBe(1)
})

it('counts what is there and names the blocks that nothing can tell about', async () => {
  const support = await app.operator('support')
  await app.send('POST', '/api/v1/auth/login', {
    body: { email: 'x@acme.test', password: 'wrong' },
  })
  await app.send('GET', '/api/v1/platform/overview')
  const mail = (id: string, sender: string, recipient: string, status: 'sent' | 'bounced') => ({
    id,
    sender,
    recipient,
    status,
    timestamp: app.clock.now().toISOString(),
  })
  await app.core.db
    .insertInto('mail_log')
    .values([
      mail('1', 'a@acme.test', 'b@elsewhere.test', 'sent'),
      mail('2', 'a@ACME.test', 'b@acme.test', 'sent'),
      mail('3', 'x@elsewhere.test', 'b@acme.test', 'sent'),
      mail('4', 'a@acme.test', 'nobody@elsewhere.test', 'bounced'),
      {
        ...mail('5', 'a@acme.test', 'old@elsewhere.test', 'sent'),
        timestamp: '2020-01-01T00:00:00.000Z',
      },
    ])
    .execute()
  const { status, body } = await support.get('/api/v1/platform/overview')
  expect(status).toBe(200)
  expect(body.data).toMatchObject({
    queue: { depth: 0, deferred: 0, oldest_age_seconds: null },
    organizations: { total: 1, active: 1, suspended: 0, delta_7d: 1 },
    domains: { total: 1, delta_7d: 1 },
    mailboxes: { total: 1, delta_7d: 1 },
    storage: { used_bytes: 0, quota_bytes: 10737418240, used_percent: 0 },
    certificates: { total: 0, soonest_expiry_days: null },
    quarantine: { pending: 0 },
    webhooks: { dead_letters: 0 },
    migrations: { failed: 0 },
    security: { failed_auth_24h: 1 },
    services: null,
    degraded: ['services'],
  })
  expect(body.data.storage.top_consumers).toEqual([{ domain: 'acme.test', used_bytes: 0 }])
  expect(body.data.security.failed_auth_series).toHaveLength(24)
  expect(body.data.security.failed_auth_series.at(-1).count).toBe(1)
  expect(body.data.volume_24h).toHaveLength(24)
  expect(body.data.volume_24h.at(-1)).toMatchObject({
    sent: 2,
    received: 2,
    bounced: 1,
    deferred: 0,
  })
  expect(bounceRate(body.data.volume_24h)).toBe(33.33)
})
