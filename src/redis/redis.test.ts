import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { redisMissing, startRedis } from '../../test/support/redis.ts'
import { waitFor } from '../../test/support/wait.ts'
import { type RedisLink, redisLink } from './redis.ts'

const missing = redisMissing()

describe.skipIf(missing)(`the link to Redis${missing ? `: ${missing}` : ''}`, () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  beforeAll(async () => {
    redis = await startRedis({ password: 'a-password-of-redis' })
  })
  afterAll(() => redis.stop())

  const links: RedisLink[] = []
  afterEach(() => {
    for (const link of links.splice(0)) link.close()
  })
  const told: string[] = []
  const log = pino({ level: 'debug' }, { write: (line) => void told.push(line) })
  const link = (url: string) => {
    told.length = 0
    const made = redisLink(url, log)
    links.push(made)
    return made
  }
  const clients = async () => {
    const list = (await redis.ask((client) => client.client('LIST'))) as string
    return list.split('\n').filter((line) => line.includes('name=mailplane')).length
  }

  it('makes no connection before it is used, one however often it is, and none after', async () => {
    const made = link(redis.url)
    expect(await clients()).toBe(0)
    const connections = await Promise.all([made.connection(), made.connection()])
    expect(await connections[0]?.set('a', '1')).toBe('OK')
    expect(await connections[1]?.get('a')).toBe('1')
    expect(await clients()).toBe(1)
    made.close()
    await waitFor(async () => (await clients()) === 0)
  })

  it('fails at once while Redis is away, says so once, and works again by itself', async () => {
    const made = link(redis.url)
    const client = await made.connection()
    await redis.kill()
    await waitFor(() => client.status !== 'ready')
    const started = Date.now()
    for (let n = 0; n < 20; n++) await expect(client.get('a')).rejects.toThrow()
    expect(Date.now() - started).toBeLessThan(1000)
    await redis.start()
    await waitFor(() =>
      client.get('a').then(
        () => true,
        () => false,
      ),
    )
    expect(told.filter((line) => line.includes('redis is away'))).toHaveLength(1)
    expect(told.filter((line) => line.includes('redis is connected'))).toHaveLength(2)
  })

  it('does not take forever to say that nobody is there', async () => {
    const client = await link('redis://127.0.0.1:1').connection()
    await expect(client.ping()).rejects.toThrow()
    expect(told.filter((line) => line.includes('redis is away'))).toHaveLength(1)
  })

  it('keeps a wrong password out of the log', async () => {
    const client = await link(redis.url.replace('a-password', 'a-wrong-password')).connection()
    await expect(client.ping()).rejects.toThrow()
    await waitFor(() => told.length > 0)
    expect(told.join()).toContain('redis is away')
    expect(told.join()).not.toContain('a-wrong-password')
  })
})
