import type { RedisOptions } from 'ioredis'
import type { Log } from '../log.ts'
import { type RedisClient, redisClient } from './client.ts'

const HEARTBEAT_MS = 5000
const PING_TIMEOUT_MS = 3000
// Mail waits for counters.
const COMMAND_TIMEOUT_MS = 1000
const MAX_PAUSE_MS = 2000

const options: RedisOptions = {
  lazyConnect: true,
  connectTimeout: 5000,
  keepAlive: 10_000,
  retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), MAX_PAUSE_MS),
  // After a failover the server may be a replica now; reconnect to find the new primary.
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
}

export type RedisLink = ReturnType<typeof redisLink>

/** The connections of this process to Redis. Each caller decides what to do without Redis. */
export function redisLink(url: string, log: Log) {
  const open = new Set<RedisClient>()
  let shared: Promise<RedisClient> | undefined

  const connect = (purpose: string, more: RedisOptions): RedisClient => {
    const client = redisClient(url, {
      ...options,
      ...more,
      connectionName: `mailplane-${purpose}`,
    })
    open.add(client)
    logChanges(client, log.child({ redis: purpose }))
    return client
  }

  return {
    /**
     * Returns the connection for commands, which the whole process shares. Only the first caller
     * waits for it; later, while Redis is down, commands fail at once.
     */
    connection(): Promise<RedisClient> {
      shared ??= firstAttempt(
        connect('commands', {
          commandTimeout: COMMAND_TIMEOUT_MS,
          enableOfflineQueue: false,
          maxRetriesPerRequest: 0,
        }),
      )
      return shared
    },

    /** Follows a channel on a connection of its own, and subscribes again after a reconnect. */
    subscribe(channel: string, message: (content: Buffer) => void) {
      const client = connect('channel', { autoResubscribe: false, maxRetriesPerRequest: 0 })
      let subscribed = false
      client.on('close', () => {
        subscribed = false
      })
      client.on('ready', () => {
        client.subscribe(channel).then(
          () => {
            subscribed = true
          },
          // No permission, or disconnected again: retry with the next connection.
          (error) => {
            log.warn(
              { channel, reason: error.message },
              'subscribing to a redis channel failed, will retry',
            )
            client.disconnect(true)
          },
        )
      })
      client.on('messageBuffer', (_channel: Buffer, content: Buffer) => message(content))
      void firstAttempt(client)
      const timer = setInterval(() => beat(client), HEARTBEAT_MS)
      timer.unref()
      return {
        get subscribed() {
          return subscribed
        },
        close() {
          clearInterval(timer)
          open.delete(client)
          client.disconnect()
        },
      }
    },

    close(): void {
      for (const client of open) client.disconnect()
      open.clear()
    },
  }
}

/** Never rejects: the events of the client report failures, and it keeps trying. */
const firstAttempt = (client: RedisClient): Promise<RedisClient> =>
  client.connect().then(
    () => client,
    () => client,
  )

/** A broken connection does not always close its socket, so a missing reply counts as a loss. */
function beat(client: RedisClient): void {
  if (client.status !== 'ready') return
  const silence = setTimeout(() => client.disconnect(true), PING_TIMEOUT_MS)
  client.ping().then(
    () => clearTimeout(silence),
    () => clearTimeout(silence),
  )
}

/** Logs once when the connection is lost and once when it is back. */
function logChanges(client: RedisClient, log: Log): void {
  let state: 'new' | 'up' | 'down' = 'new'
  let ended = false
  const lost = (reason: string) => {
    if (state === 'down' || ended) return
    state = 'down'
    log.warn({ reason }, 'redis is away')
  }
  client.on('ready', () => {
    if (state !== 'up') log.info('redis is connected')
    state = 'up'
  })
  // The error object may contain the AUTH command with the password, so only its message is logged.
  client.on('error', (error) => lost(error.message))
  client.on('close', () => lost('the connection was closed'))
  client.on('end', () => {
    ended = true
  })
}
