import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { redisMissing, startRedis } from '../../test/support/redis.ts'
import { waitFor } from '../../test/support/wait.ts'
import { CHANNEL } from '../features/webhooks/channel/channel.ts'
import { webhooks } from './webhooks.ts'

const missing = redisMissing()

describe.skipIf(missing)(`the channel of Redis${missing ? `: ${missing}` : ''}`, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis({ password: 'a-password-of-redis' })
  })
  afterAll(() => redis.stop())

  const cleanUps: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  type Running = Awaited<ReturnType<typeof webhooks.start>>

  /** As many daemons as processes would run, on one database and one Redis. */
  async function setUp(processes = 1, env: Record<string, string> = {}) {
    const first = await startApp({ env: { REDIS_URL: redis.url, ...env } })
    cleanUps.push(first.stop)
    const apps = [first]
    while (apps.length < processes) {
      const more = await startApp({
        env: { REDIS_URL: redis.url, ...env },
        database: first.database,
      })
      cleanUps.push(more.stop)
      apps.push(more)
    }
    const daemons: Running[] = []
    for (const app of apps) {
      const daemon = await webhooks.start(app.core)
      cleanUps.push(daemon.stop)
      daemons.push(daemon)
    }
    for (const daemon of daemons) await following(daemon)
    return { app: first, acme: await first.tenant('acme'), daemons, daemon: daemons[0] as Running }
  }
  const metric = async (daemon: Running, name: string) => {
    const lines = ((await daemon.metrics?.()) ?? '').split('\n')
    return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1))
  }
  const following = (daemon: Running) =>
    waitFor(async () => (await metric(daemon, 'webhooks_channel_subscribed')) === 1)
  const publish = (message: unknown) => redis.publish(CHANNEL, JSON.stringify(message))
  const stored = (app: App) =>
    app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()
  const sum = async (daemons: Running[], name: string) => {
    let total = 0
    for (const daemon of daemons) total += await metric(daemon, name)
    return total
  }
  const STORED = 'webhooks_channel_messages_total{outcome="stored"}'
  const DUPLICATE = 'webhooks_channel_messages_total{outcome="duplicate"}'
  const failure = (user: string) => ({
    event: 'auth.login.failure',
    source: 'dovecot',
    data: { user, ip_address: '192.0.2.7', protocol: 'imap' },
  })

  it('counts and drops a malformed message', async () => {
    const { app, daemon } = await setUp()
    await redis.publish(CHANNEL, '{not json')
    await redis.publish(CHANNEL, Buffer.from([0xff, 0xfe]))
    await publish([])
    await publish({ event: 'no.such.event', data: {} })
    await publish({ ...failure('a@acme.test'), data: { user: 7 } })
    await publish({ event: 'webhook.test', data: {}, metadata: { big: 'x'.repeat(2_000_000) } })
    await publish(failure('last@acme.test'))
    await waitFor(async () => (await stored(app)).length === 1)
    const counted = (reason: string) =>
      metric(daemon, `webhooks_malformed_total{reason="${reason}"}`)
    expect(await counted('not_json')).toBe(2)
    expect(await counted('shape')).toBe(1)
    expect(await counted('unknown_event')).toBe(1)
    expect(await counted('data')).toBe(1)
    expect(await counted('too_large')).toBe(1)
    expect(await metric(daemon, 'webhooks_ingested_total{via="channel"}')).toBe(1)
  })

  it('stores an event for the owner of the domain, with the whole envelope', async () => {
    const { app, acme } = await setUp()
    const globex = await app.tenant('globex')
    const tags = ['edge']
    await publish({
      ...failure('ada@acme.test'),
      domain: 'ACME.test',
      org_id: globex.organizationId,
      tags,
      user_variables: { a: 1 },
      metadata: { b: [2] },
    })
    await publish(failure('ada@globex.test'))
    await publish({ ...failure('ada@nowhere.test'), org_id: globex.organizationId })
    await publish({ ...failure('ada@nowhere.test'), org_id: 'nobody' })
    await publish({ event_type: 'tracking.open', domain: acme.domainId, data: {} })
    await waitFor(async () => (await stored(app)).length === 5)
    const rows = await stored(app)
    expect(rows[0]).toMatchObject({
      event: 'auth.login.failure',
      source: 'dovecot',
      org_id: acme.organizationId,
      domain: 'acme.test',
      tags,
      user_variables: { a: 1 },
      metadata: { b: [2] },
      data: failure('ada@acme.test').data,
    })
    expect(rows.slice(1).map(({ org_id, domain }) => [org_id, domain])).toEqual([
      [globex.organizationId, 'globex.test'],
      [globex.organizationId, 'nowhere.test'],
      [null, 'nowhere.test'],
      [acme.organizationId, 'acme.test'],
    ])
  })

  it('enqueues the event for delivery', async () => {
    const { app } = await setUp(1, { WEBHOOK_URL: 'http://127.0.0.1:9/' })
    await publish(failure('ada@acme.test'))
    const rows = await waitFor(async () => {
      const found = await app.core.db.selectFrom('webhook_queue').selectAll().execute()
      return found.length > 0 && found
    })
    expect(rows).toHaveLength(1)
  })

  it('stores a message once and in order when several daemons receive it', async () => {
    const { app, daemons } = await setUp(3)
    for (let n = 0; n < 50; n++) await publish(failure(`user-${n}@acme.test`))
    await waitFor(async () => (await sum(daemons, STORED)) === 50)
    await waitFor(async () => (await sum(daemons, DUPLICATE)) === 100)
    const users = (await stored(app)).map(({ data }) => (data as { user: string }).user)
    expect(users).toHaveLength(50)
    expect(new Set(users).size).toBe(50)
  })

  it('stores two equal messages as two events, and two messages with one id as one', async () => {
    const { app, daemons } = await setUp(2)
    const alike = failure('ada@acme.test')
    for (let n = 0; n < 5; n++) await publish(alike)
    await waitFor(async () => (await sum(daemons, DUPLICATE)) === 5)
    expect(await stored(app)).toHaveLength(5)

    await publish({ ...alike, id: 'm1' })
    await publish({ ...alike, id: 'm1', metadata: { sent: 'again' } })
    await publish({ ...alike, id: 'm2' })
    await waitFor(async () => (await sum(daemons, STORED)) + (await sum(daemons, DUPLICATE)) === 16)
    expect(await stored(app)).toHaveLength(7)
  })

  it('subscribes again after Redis was killed, with one log line for each change', async () => {
    const { app, daemon } = await setUp()
    await publish(failure('before@acme.test'))
    await waitFor(async () => (await stored(app)).length === 1)
    await redis.kill()
    await waitFor(async () => (await metric(daemon, 'webhooks_channel_subscribed')) === 0)
    await redis.start()
    await following(daemon)
    await publish(failure('after@acme.test'))
    await waitFor(async () => (await stored(app)).length === 2)
    const log = await waitFor(() => {
      const text = readFileSync(join(app.dataDir, 'logs', 'api.log'), 'utf8')
      return text.split('redis is connected').length === 3 && text
    })
    expect(log.split('redis is away')).toHaveLength(2)
    expect(log).not.toContain('a-password-of-redis')
  })

  it('subscribes as soon as Redis is up, without delaying the start', async () => {
    await redis.kill()
    const app = await startApp({ env: { REDIS_URL: redis.url } })
    cleanUps.push(app.stop)
    const daemon = await webhooks.start(app.core)
    cleanUps.push(daemon.stop)
    expect(await metric(daemon, 'webhooks_channel_subscribed')).toBe(0)
    await redis.start()
    await following(daemon)
  })

  it('keeps messages in memory while the database fails, and stores them later', async () => {
    const { app, daemon } = await setUp()
    const { db } = app.core
    await db.schema.alterTable('webhook_channel_messages').renameTo('away').execute()
    await publish(failure('patient@acme.test'))
    await waitFor(async () =>
      readFileSync(join(app.dataDir, 'logs', 'api.log'), 'utf8').includes(
        'channel messages not stored yet',
      ),
    )
    expect(await stored(app)).toEqual([])
    await db.schema.alterTable('away').renameTo('webhook_channel_messages').execute()
    await waitFor(async () => (await stored(app)).length === 1)
    expect(await metric(daemon, STORED)).toBe(1)
  })

  it('stores nothing after the daemon has stopped', async () => {
    const { daemon } = await setUp()
    const hearers = () => redis.ask((client) => client.pubsub('NUMSUB', CHANNEL))
    expect(await hearers()).toEqual([CHANNEL, 1])
    await daemon.stop()
    await waitFor(async () => ((await hearers()) as unknown[])[1] === 0)
    await publish(failure('nobody@acme.test'))
  })
})
