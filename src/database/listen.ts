import { within } from '../lib/timeout.ts'
import { ulid } from '../lib/ulid.ts'
import { StartupError } from '../startup-error.ts'
import type { Client } from './client.ts'
import type { OpenClient } from './primary.ts'

const HEARTBEAT_MS = 2000
const SILENCE_MS = 3000
const RETRY_MS = 250
// At the start of a process nothing depends on the feed yet, and a busy machine is slow.
const FIRST_ANSWER_MS = 30_000
// Longer than any healthy server takes to deliver a notification.
const FIRST_PROOF_MS = 10_000
/** The channel on which the feed hears itself. */
const PROOF_CHANNEL = 'mailplane_feed'

export interface Feed {
  /** False while messages may be lost; caches that depend on them must not be used then. */
  readonly connected: boolean
  /** Waits for the messages of all changes that were committed before the call. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface Handlers {
  message(payload: string): void
  /** Called when the feed is connected, the first time or again; messages in between are lost. */
  subscribed(): void
}

interface Needs {
  open: OpenClient
  /** Sends a notification over a connection of the pool, as all changes do. */
  notify(channel: string, payload: string): Promise<unknown>
}

export type Feeds = ReturnType<typeof openFeeds>

/** A message was sent, but the listening connection did not get it. */
class Unheard extends Error {}

/** Listens to NOTIFY channels on one connection and reconnects when the server restarts. */
export function openFeeds({ open, notify }: Needs) {
  const channels = new Map<string, Set<Handlers>>()
  const awaited = new Map<string, () => void>()
  let connected = false
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let client: Client | undefined
  let opening: Promise<Client> | undefined

  const lost = () => {
    connected = false
  }
  const drop = () => {
    lost()
    client?.discard()
    client = undefined
  }
  const onnotify = (channel: string, payload: string) => {
    if (channel === PROOF_CHANNEL) awaited.get(payload)?.()
    for (const { message } of channels.get(channel) ?? []) message(payload)
  }
  const connection = async (limitMs: number): Promise<Client> => {
    if (client && !client.isLost) return client
    const budget = { statementMs: limitMs, lockMs: limitMs, silenceMs: limitMs }
    opening ??= open({ name: 'feed', budget, onnotify, lost }).finally(() => {
      opening = undefined
    })
    client = await opening
    return client
  }
  const ask = async (statement: string, limitMs = SILENCE_MS) => {
    const listening = await connection(limitMs)
    await listening.run((sql) => sql.unsafe(statement).simple(), limitMs)
  }

  /**
   * Sends a message to itself. A proxy that pools transactions answers every statement, but the
   * messages go to a connection that is not the listening one. The time counts from the moment when
   * the message is sent: the pool may be busy.
   */
  const prove = async (limitMs: number) => {
    const token = ulid()
    const heard = new Promise<void>((resolve) => awaited.set(token, resolve))
    try {
      await notify(PROOF_CHANNEL, token)
      await within(limitMs, heard).catch(() => {
        throw new Unheard('a notification of the database was not heard')
      })
    } finally {
      awaited.delete(token)
    }
  }

  const subscribe = async (limitMs = SILENCE_MS) => {
    const followed = [...channels]
    const names = [PROOF_CHANNEL, ...channels.keys()]
    await ask(names.map((channel) => `listen ${channel}`).join(';'), limitMs)
    await prove(Math.min(limitMs, FIRST_PROOF_MS))
    if (client === undefined || client.isLost) return
    connected = true
    for (const [, handlers] of followed) for (const { subscribed } of handlers) subscribed()
  }
  // A broken connection does not always close its socket, so a missing reply counts as a loss.
  const beat = async () => {
    try {
      if (connected) await Promise.all([ask('select 1'), prove(SILENCE_MS)])
      else if (channels.size > 0) await subscribe()
    } catch {
      drop()
    }
    if (!closed) timer = setTimeout(beat, connected ? HEARTBEAT_MS : RETRY_MS)
  }

  return {
    async listen(channel: string, handlers: Handlers): Promise<Feed> {
      const known = channels.get(channel) ?? new Set()
      channels.set(channel, known.add(handlers))
      if (timer === undefined) await subscribe(FIRST_ANSWER_MS).catch(explain)
      else if (connected) {
        await ask(`listen ${channel}`, FIRST_ANSWER_MS)
        // If the connection is lost by now, the next heartbeat subscribes the new channel too.
        if (connected) handlers.subscribed()
      }
      timer ??= setTimeout(beat, HEARTBEAT_MS)
      return {
        get connected() {
          return connected
        },
        async settled() {
          // Messages of earlier commits arrive before the result of a later query.
          await ask('select 1').catch(drop)
        },
        async close() {
          known.delete(handlers)
          if (known.size > 0) return
          channels.delete(channel)
          if (connected && !closed) await ask(`unlisten ${channel}`).catch(drop)
        },
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await client?.close()
    },
  }
}

function explain(error: unknown): never {
  if (!(error instanceof Unheard)) throw error
  throw new StartupError(
    'notifications of the database do not arrive: DATABASE_URL leads to a proxy with transaction pooling (pgbouncer); use pool_mode = session or connect to PostgreSQL directly',
  )
}
