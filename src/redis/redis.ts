import { Redis } from 'ioredis'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'

const PATIENCE_MS = 1000
const MAX_WAIT_MS = 2000
const COMPLAIN_MS = 30_000

export type SharedRedis = ReturnType<typeof connectRedis>

/**
 * A connection to `REDIS_URL` that comes back by itself. While it is away commands fail at once: who
 * waits for a counter holds up mail.
 */
export function connectRedis({ REDIS_URL }: Pick<Config, 'REDIS_URL'>, log: Log) {
  if (REDIS_URL === undefined) throw new Error('REDIS_URL is not set')
  const client = new Redis(REDIS_URL, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: PATIENCE_MS,
    connectTimeout: PATIENCE_MS,
    retryStrategy: (tries) => Math.min(50 * tries, MAX_WAIT_MS),
  })
  let complainedAt = 0
  client.on('error', (error) => {
    if (Date.now() - complainedAt < COMPLAIN_MS) return
    complainedAt = Date.now()
    log.error({ err: error }, 'Redis does not answer')
  })
  client.on('ready', () => {
    if (complainedAt > 0) log.warn('Redis answers again')
    complainedAt = 0
  })
  return {
    client,
    /** The first connection, or the first failure to make one. */
    settled: () =>
      client.status === 'ready'
        ? Promise.resolve()
        : new Promise<void>((resolve) => {
            client.once('ready', () => resolve())
            client.once('error', () => resolve())
            client.once('end', () => resolve())
          }),
    close: async () => client.disconnect(),
  }
}
