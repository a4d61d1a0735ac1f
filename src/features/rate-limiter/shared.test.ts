import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../../test/support/app.ts'
import { endOfMessage, policyClient } from '../../../test/support/policy.ts'
import { startRedis } from '../../../test/support/redis.ts'
import { startRedisCluster } from '../../../test/support/redis-fleets.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { readSender } from '../../hosting/senders.ts'
import { recounter } from './recount.ts'

const MAILBOX = '/api/v1/rate-limiter/rate-limits/mailbox/admin@acme.test'
const OPEN = Object.fromEntries(
  ['ORG', 'DOMAIN', 'MAILBOX'].flatMap((entity) =>
    ['SECOND', 'MINUTE'].map((window) => [`${entity}_OUTBOUND_${window}_DEFAULT`, '0']),
  ),
)
const LOGIN = 'admin@acme.test'
const UNAVAILABLE = { status: 503, body: { error: 'Rate limiter service unavailable' } }

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const start = async (env: Record<string, string>, more: object = {}) => {
  const app = await startApp({
    limiting: true,
    env: { ...OPEN, ...env },
    ...more,
  })
  cleanUps.push(app.stop)
  return app
}
const connect = (app: App) => {
  const client = policyClient(app.limiter.policy.ports.rate as number)
  cleanUps.push(client.close)
  return client
}

describe('rate limiter processes that share Redis', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeEach(async () => {
    redis = await startRedis({ durable: true })
    cleanUps.push(redis.stop)
  })

  it.each([
    ['one server', async () => redis.url],
    [
      'a Cluster',
      async () => {
        const cluster = await startRedisCluster()
        cleanUps.push(cluster.stop)
        return cluster.url
      },
    ],
  ])('admit exactly the limit together, over 32 connections, with %s', async (_kind, address) => {
    const REDIS_URL = await address()
    const one = await start({ REDIS_URL })
    const other = await start({ REDIS_URL }, { database: one.database })
    const acme = await one.tenant('acme')
    await acme.post(MAILBOX, { hourly_limit: 50 })
    const postfix = Array.from({ length: 32 }, (_, i) => connect(i % 2 ? one : other))
    // Wait until the other process has loaded the rule.
    await waitFor(async () => {
      await other.limiter.settled()
      return true
    })
    const actions = await Promise.all(
      postfix.flatMap((client) => Array.from({ length: 5 }, () => client.ask(endOfMessage(LOGIN)))),
    )
    expect(actions.filter((action) => action === 'DUNNO')).toHaveLength(50)
    const { data } = (await acme.get(MAILBOX)).body
    expect(data).toMatchObject({ usage: { hourly_count: 50 }, remaining: { hourly: 0 } })
    await acme.post('/api/v1/rate-limiter/rate-limits/reset', {
      type: 'mailbox',
      identifier: LOGIN,
    })
    expect(await postfix[1]?.ask(endOfMessage(LOGIN))).toBe('DUNNO')
  })

  it.each([
    ['open', 'DUNNO'],
    [
      'closed',
      `DEFER_IF_PERMIT 4.3.0 This cannot be checked now, try again later (login ${LOGIN})`,
    ],
  ])(
    'fail %s while Redis is down, count the outage, and keep the counts afterwards',
    async (mode, action) => {
      const app = await start({ REDIS_URL: redis.url, POLICY_ON_FAILURE: mode })
      const acme = await app.tenant('acme')
      await acme.post(MAILBOX, { hourly_limit: 3 })
      const postfix = connect(app)
      for (let i = 0; i < 3; i++) await postfix.ask(endOfMessage(LOGIN))
      await redis.kill()
      expect(await postfix.ask(endOfMessage(LOGIN))).toBe(action)
      expect(await acme.get(MAILBOX)).toMatchObject(UNAVAILABLE)
      const reset = { type: 'mailbox', identifier: LOGIN }
      expect(await acme.post('/api/v1/rate-limiter/rate-limits/reset', reset)).toMatchObject(
        UNAVAILABLE,
      )
      const check = await app.send('POST', '/check_rate_limit', {
        body: { email: LOGIN },
        headers: { 'x-internal-token': INTERNAL_TOKEN },
      })
      expect(check).toMatchObject(UNAVAILABLE)
      expect(app.limiter.policy.outages).toBeGreaterThan(0)
      expect(await app.limiter.metrics()).toMatch(/^rate_limiter_outages_total [1-9]/m)
      await redis.start()
      await waitFor(async () => (await acme.get(MAILBOX)).status === 200)
      expect(await postfix.ask(endOfMessage(LOGIN))).toMatch(
        /may pass 3 recipients per hour \(login .*\)$/,
      )
    },
  )
})

describe('rate limiter processes without Redis', () => {
  it('let one process count, and a standby takes over when it stops', async () => {
    const one = await start({})
    const env = { DATABASE_URL: one.database.url }
    const other = await start(env, { database: one.database })
    const acme = await one.tenant('acme')
    await acme.post(MAILBOX, { hourly_limit: 2 })
    await connect(one).ask(endOfMessage(LOGIN))
    const key = { headers: { 'x-api-key': acme.apiKey } }
    expect(await other.send('GET', MAILBOX, key)).toMatchObject(UNAVAILABLE)
    await one.limiter.stop()
    await waitFor(async () => (await other.send('GET', MAILBOX, key)).status === 200)
    const postfix = connect(other)
    expect(await postfix.ask(endOfMessage(LOGIN))).toBe('DUNNO')
    expect(await postfix.ask(endOfMessage(LOGIN))).toMatch(/^DEFER_IF_PERMIT 4\.7\.1/)
  })

  it('forward to the counting process with RATE_LIMITER_URL and the internal token', async () => {
    const token = { SVC_INTERNAL_TOKEN: 'what services have in common' }
    const counting = await start(token)
    const acme = await counting.tenant('acme')
    await acme.post(MAILBOX, { hourly_limit: 10 })
    await connect(counting).ask(endOfMessage(LOGIN))
    const key = { headers: { 'x-api-key': acme.apiKey } }
    const asking = async (env: Record<string, string>) => {
      const app = await startApp({
        database: counting.database,
        env: { ...OPEN, RATE_LIMITER_URL: counting.base, ...env },
      })
      cleanUps.push(app.stop)
      return app
    }
    const api = await asking(token)
    const read = await api.send('GET', MAILBOX, key)
    expect(read.body.data).toMatchObject({ usage: { hourly_count: 1 }, remaining: { hourly: 9 } })
    const recount = recounter(api.core, {
      find: (name, direction) => readSender(api.core.db, name, direction),
    })
    expect(await recount(LOGIN, 4)).toBeUndefined()
    expect(await recount(LOGIN, 6)).toMatch(/may pass 10 recipients per hour$/)
    expect((await acme.get(MAILBOX)).body.data.usage.hourly_count).toBe(5)
    const reset = await api.send('POST', '/api/v1/rate-limiter/rate-limits/reset', {
      ...key,
      body: { type: 'mailbox', identifier: LOGIN },
    })
    expect(reset.status).toBe(200)
    expect((await acme.get(MAILBOX)).body.data.usage.hourly_count).toBe(0)
    const told = await counting.core.db
      .selectFrom('events')
      .select('id')
      .where('event', '=', 'rate_limit.reset')
      .execute()
    expect(told).toHaveLength(2)
    const stranger = await asking({ SVC_INTERNAL_TOKEN: 'a guess' })
    expect(await stranger.send('GET', MAILBOX, key)).toMatchObject(UNAVAILABLE)
  })

  it('return 503 when no process counts', async () => {
    const app = await startApp()
    cleanUps.push(app.stop)
    const acme = await app.tenant('acme')
    expect(await acme.get(MAILBOX)).toMatchObject(UNAVAILABLE)
  })
})
