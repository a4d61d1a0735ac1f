import type { Redis } from 'ioredis'
import type { SigningKeys } from './signing-keys.ts'

/** The rendered configuration of Rspamd contains these names too. */
export const REDIS_KEYS = 'mailplane:dkim:keys'
export const REDIS_SELECTORS = 'mailplane:dkim:selectors'

/** Writes the keys into the Redis that Rspamd reads for every message. */
export function signingKeysInRedis(url: string): SigningKeys {
  let client: Promise<Redis> | undefined
  const redis = () => {
    client ??= connect(url)
    return client
  }

  /** The fields `selector.domain` of one domain. */
  async function fieldsOf(domain: string): Promise<string[]> {
    const fields: string[] = []
    let cursor = '0'
    do {
      const [next, pairs] = await (await redis()).hscan(REDIS_KEYS, cursor, 'MATCH', `*.${domain}`)
      fields.push(...pairs.filter((_, n) => n % 2 === 0))
      cursor = next
    } while (cursor !== '0')
    // A selector has no dot. A field with one belongs to a subdomain.
    return fields.filter((field) => !field.slice(0, -domain.length - 1).includes('.'))
  }

  return {
    isConfigured: true,
    async publish(domain, keys, signing) {
      const current = keys.map(({ selector }) => `${selector}.${domain}`)
      for (const { selector, privateKey } of keys) {
        await (await redis()).hset(REDIS_KEYS, `${selector}.${domain}`, privateKey)
      }
      if (signing === undefined) await (await redis()).hdel(REDIS_SELECTORS, domain)
      else await (await redis()).hset(REDIS_SELECTORS, domain, signing)
      const others = (await fieldsOf(domain)).filter((field) => !current.includes(field))
      if (others.length > 0) await (await redis()).hdel(REDIS_KEYS, ...others)
    },
    domains: async () => (await redis()).hkeys(REDIS_SELECTORS),
    async close() {
      ;(await client)?.disconnect()
    },
  }
}

/** Loads the client on first use, because most installations have no Redis. */
async function connect(url: string): Promise<Redis> {
  const { Redis } = await import('ioredis')
  const client = new Redis(url, { maxRetriesPerRequest: 1 })
  // An unhandled error event would end the process; the failed command rejects anyway.
  return client.on('error', () => {})
}
