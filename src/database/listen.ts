import type { Sql } from 'postgres'
import { within } from '../lib/timeout.ts'
import { connect, type Target } from './database.ts'

const HEARTBEAT_MS = 2000
const SILENCE_MS = 3000
// At the start of a process nothing depends on the feed yet, and a busy machine is slow.
const FIRST_ANSWER_MS = 30_000

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

export type Feeds = ReturnType<typeof openFeeds>

/** Listens to NOTIFY channels on one connection and reconnects when the server restarts. */
export function openFeeds(target: Target) {
  const channels = new Map<string, Set<Handlers>>()
  let connected = false
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let sql: Sql | undefined

  const lost = () => {
    connected = false
  }
  const connection = () => {
    sql ??= connect(target, {
      max: 1,
      idle_timeout: 0,
      max_lifetime: null,
      connection: { application_name: 'mailplane feed' },
      onclose: lost,
      onnotify(channel: string, payload: string) {
        for (const { message } of channels.get(channel) ?? []) message(payload)
      },
    } as never)
    return sql
  }
  const ask = (statement: string, limitMs = SILENCE_MS) =>
    within(limitMs, connection().unsafe(statement).simple())

  const subscribe = async (limitMs = SILENCE_MS) => {
    const followed = [...channels]
    await ask(followed.map(([channel]) => `listen ${channel}`).join(';'), limitMs)
    connected = true
    for (const [, handlers] of followed) for (const { subscribed } of handlers) subscribed()
  }
  // A broken connection does not always close its socket, so a missing reply counts as a loss.
  const beat = async () => {
    try {
      if (connected) await ask('select 1')
      else if (channels.size > 0) await subscribe()
    } catch {
      lost()
    }
    if (!closed) timer = setTimeout(beat, connected ? HEARTBEAT_MS : 250)
  }

  return {
    async listen(channel: string, handlers: Handlers): Promise<Feed> {
      const known = channels.get(channel) ?? new Set()
      channels.set(channel, known.add(handlers))
      if (timer === undefined) await subscribe(FIRST_ANSWER_MS)
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
          await ask('select 1').catch(lost)
        },
        async close() {
          known.delete(handlers)
          if (known.size > 0) return
          channels.delete(channel)
          if (connected && !closed) await ask(`unlisten ${channel}`).catch(lost)
        },
      }
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await sql?.end({ timeout: 1 })
    },
  }
}
