import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type MailQueue, QueueAway } from '../../../mail/mail-queue.ts'
import { overviewService } from './overview.service.ts'
import { bounceRate } from './volume.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
  await app.tenant('acme')
})
afterAll(() => app.stop())

/** The queue of a Postfix that is read in this way. */
const queueWith = (walk: MailQueue['walk']) => ({
  ...app.core,
  mailQueue: { ...app.core.mailQueue, isConfigured: true, walk },
})

it('the overview lists failed blocks in degraded and returns the others', async () => {
  const core = queueWith(async () => {
    throw new QueueAway('Postfix is stopped')
  })
  const page = await overviewService(core).get()
  expect(page).toMatchObject({
    queue: null,
    domains: { total: 1 },
    degraded: ['services', 'queue'],
  })
})

it('the overview does not wait for a block that hangs', async () => {
  const core = queueWith(() => new Promise<never>(() => {}))
  const page = await overviewService(core).get()
  expect(page.degraded).toContain('queue')
})

it('the overview computes a block once for concurrent and following requests', async () => {
  let walks = 0
  const core = queueWith(async () => {
    walks++
    return undefined
  })
  const overview = overviewService(core)
  await Promise.all(Array.from({ length: 20 }, () => overview.get()))
  await overview.get()
  expect(walks).toBe(1)
})

it('the overview counts tenants, mail and failed logins, and lists unavailable blocks', async () => {
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
    sasl_username: sender.endsWith('elsewhere.test') ? null : sender,
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
