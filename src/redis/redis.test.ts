import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisMissing, startRedis } from '../../test/support/redis.ts'
import { startRedisCluster, startSentinel } from '../../test/support/redis-fleets.ts'
import { waitFor } from '../../test/support/wait.ts'
import { type RedisLink, redisLink } from './redis.ts'

const missing = redisMissing()

describe.skipIf(missing)(`redisLink${missing ? `: ${missing}` : ''}`, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis({ password: 'a-password-of-redis' })
  })
  afterAll(() => redis.stop())

  const links: RedisLink[] = []
  afterEach(() => {
    for (const link of links.splice(0)) link.close()
  })
  const lines: string[] = []
  const log = pino({ level: 'debug' }, { write: (line) => void lines.push(line) })
  const link = (url: string) => {
    lines.length = 0
    const made = redisLink(url, log)
    links.push(made)
    return made
  }
  const clients = async () => {
    const list = (await redis.ask((client) => client.client('LIST'))) as string
    return list.split('\n').filter((line) => line.includes('name=mailplane')).length
  }

  it('opens one shared connection on first use and closes it on close', async () => {
    const made = link(redis.url)
    expect(await clients()).toBe(0)
    const connections = await Promise.all([made.connection(), made.connection()])
    expect(await connections[0]?.set('a', '1')).toBe('OK')
    expect(await connections[1]?.get('a')).toBe('1')
    expect(await clients()).toBe(1)
    made.close()
    await waitFor(async () => (await clients()) === 0)
  })

  it('fails at once while Redis is down, logs it once, and reconnects', async () => {
    const made = link(redis.url)
    const client = await made.connection()
    await redis.kill()
    await waitFor(() => client.status !== 'ready')
    for (let n = 0; n < 20; n++) await expect(client.get('a')).rejects.toThrow()
    await redis.start()
    await waitFor(() =>
      client.get('a').then(
        () => true,
        () => false,
      ),
    )
    expect(lines.filter((line) => line.includes('redis is away'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('redis is connected'))).toHaveLength(2)
  })

  it('rejects commands when no server listens', async () => {
    const client = await link('redis://127.0.0.1:1').connection()
    await expect(client.ping()).rejects.toThrow()
    expect(lines.filter((line) => line.includes('redis is away'))).toHaveLength(1)
  })

  it('keeps a wrong password out of the log', async () => {
    const client = await link(redis.url.replace('a-password', 'a-wrong-password')).connection()
    await expect(client.ping()).rejects.toThrow()
    await waitFor(() => lines.length > 0)
    expect(lines.join()).toContain('redis is away')
    expect(lines.join()).not.toContain('a-wrong-password')
  })
  it('follows Sentinels to the new primary when the primary is killed', async () => {
    const fleet = await startSentinel()
    try {
      const made = link(fleet.url)
      const heard: string[] = []
      const subscription = made.subscribe('news', (content) => void heard.push(`${content}`))
      await waitFor(() => subscription.subscribed)
      const client = await made.connection()
      await client.set('a', 'before')
      await fleet.primary.kill()
      await waitFor(() =>
        client.set('a', 'after').then(
          () => true,
          () => false,
        ),
      )
      expect(await client.get('a')).toBe('after')
      await waitFor(async () => {
        await client.publish('news', 'again')
        return heard.includes('again')
      })
    } finally {
      links.splice(0).forEach((one) => void one.close())
      await fleet.stop()
    }
  })

  it('reads, writes and subscribes in a Cluster of two nodes', async () => {
    const fleet = await startRedisCluster()
    try {
      const made = link(fleet.url)
      const heard: string[] = []
      const subscription = made.subscribe('news', (content) => void heard.push(`${content}`))
      await waitFor(() => subscription.subscribed)
      const client = await made.connection()
      for (let n = 0; n < 20; n++) await client.set(`key:${n}`, `${n}`)
      expect(await client.get('key:7')).toBe('7')
      const sizes = await Promise.all(fleet.nodes.map((node) => node.ask((one) => one.dbsize())))
      expect(sizes.every((size) => size > 0)).toBe(true)
      await client.publish('news', 'hello')
      await waitFor(() => heard.includes('hello'))
    } finally {
      links.splice(0).forEach((one) => void one.close())
      await fleet.stop()
    }
  })
})
