import { Redis, type RedisOptions } from 'ioredis'
import type { Log } from '../log.ts'

const HEARTBEAT_MS = 5000
const PATIENCE_MS = 3000
// Who waits for a counter holds up mail.
const COMMAND_MS = 1000
const LONGEST_PAUSE_MS = 2000

const options: RedisOptions = {
  lazyConnect: true,
  connectTimeout: 5000,
  keepAlive: 10_000,
  retryStrategy: (times) => Math.min(50 * 2 ** Math.min(times, 10), LONGEST_PAUSE_MS),
  // Who has been away for long enough to be a replica now is asked again.
  reconnectOnError: ({ message }) => message.startsWith('READONLY'),
}

export type RedisLink = ReturnType<typeof redisLink>

/** How this process reaches Redis. Nothing waits for it: who needs it decides what to do without. */
export function redisLink(url: string, log: Log) {
  const open = new Set<Redis>()
  let shared: Promise<Redis> | undefined

  const connect = (purpose: string, more: RedisOptions): Redis => {
    const client = new Redis(url, { ...options, ...more, connectionName: `mailplane-${purpose}` })
    open.add(client)
    tellChanges(client, log.child({ redis: purpose }))
    return client
  }

  return {
    /**
     * For commands, one for the whole process. Only the first caller waits for the connection;
     * later, while Redis is away, commands fail at once.
     */
    connection(): Promise<Redis> {
      shared ??= firstAttempt(
        connect('commands', {
          commandTimeout: COMMAND_MS,
          enableOfflineQueue: false,
          maxRetriesPerRequest: 0,
        }),
      )
      return shared
    },

    /** Hears a channel on a connection of its own, through restarts of the server. */
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
          // Not allowed to, or gone again: the next connection tries anew.
          (error) => {
            log.warn({ channel, reason: error.message }, 'redis channel cannot be followed')
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

/** However it ends; failures are told by the events of the client, which keeps trying. */
const firstAttempt = (client: Redis): Promise<Redis> =>
  client.connect().then(
    () => client,
    () => client,
  )

/** A dead link does not always close its socket; silence counts as a loss too. */
function beat(client: Redis): void {
  if (client.status !== 'ready') return
  const silence = setTimeout(() => client.disconnect(true), PATIENCE_MS)
  client.ping().then(
    () => clearTimeout(silence),
    () => clearTimeout(silence),
  )
}

/** One line when Redis goes and one when it is back, however often it is tried in between. */
function tellChanges(client: Redis, log: Log): void {
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
  // The error itself may hold the command, and so the password of AUTH.
  client.on('error', (error) => lost(error.message))
  client.on('close', () => lost('the connection was closed'))
  client.on('end', () => {
    ended = true
  })
}
