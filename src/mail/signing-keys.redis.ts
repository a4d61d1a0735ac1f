import type { Redis } from 'ioredis'
import type { SigningKeys } from './signing-keys.ts'

/** Names that the configuration of Rspamd repeats. */
export const REDIS_KEYS = 'mailplane:dkim:keys'
export const REDIS_SELECTORS = 'mailplane:dkim:selectors'

/** In the Redis that Rspamd asks for every message. */
export function signingKeysInRedis(url: string): SigningKeys {
  let client: Promise<Redis> | undefined
  const redis = () => {
    client ??= connect(url)
    return client
  }

  /** The fields of a domain, whose names end with it. */
  async function fieldsOf(domain: string): Promise<string[]> {
    const found: string[] = []
    let cursor = '0'
    do {
      const [next, pairs] = await (await redis()).hscan(REDIS_KEYS, cursor, 'MATCH', `*.${domain}`)
      found.push(...pairs.filter((_, n) => n % 2 === 0))
      cursor = next
    } while (cursor !== '0')
    // A selector has no dot; otherwise it is the key of a domain below this one.
    return found.filter((field) => !field.slice(0, -domain.length - 1).includes('.'))
  }

  return {
    isConfigured: true,
    async publish(domain, keys, signing) {
      const wanted = keys.map(({ selector }) => `${selector}.${domain}`)
      for (const { selector, privateKey } of keys) {
        await (await redis()).hset(REDIS_KEYS, `${selector}.${domain}`, privateKey)
      }
      if (signing === undefined) await (await redis()).hdel(REDIS_SELECTORS, domain)
      else await (await redis()).hset(REDIS_SELECTORS, domain, signing)
      const others = (await fieldsOf(domain)).filter((field) => !wanted.includes(field))
      if (others.length > 0) await (await redis()).hdel(REDIS_KEYS, ...others)
    },
    domains: async () => (await redis()).hkeys(REDIS_SELECTORS),
    async close() {
      ;(await client)?.disconnect()
    },
  }
}

/** Loaded when needed: most installations have no Redis. */
async function connect(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  // What fails is told to whoever asked.
  return client.on('error', () => {})
}
