import type { Sql } from 'postgres'
import { connect, type Target } from './database.ts'

const HEARTBEAT_MS = 2000
const SILENCE_MS = 3000

export interface Feed {
  /** False while messages may be missed: what rests on them must then be read afresh. */
  readonly connected: boolean
  /** Waits until this process has heard of every change that was committed before the call. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface Handlers {
  message(payload: string): void
  /** The feed is up, for the first time or again; messages in between are lost. */
  subscribed(): void
}

export type Feeds = ReturnType<typeof openFeeds>

/** Follows NOTIFY channels, all on one connection of their own, through restarts of the server. */
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
      fetch_types: false,
      connection: { application_name: 'mailplane feed' },
      onclose: lost,
      onnotify(channel: string, payload: string) {
        for (const { message } of channels.get(channel) ?? []) message(payload)
      },
    } as never)
    return sql
  }
  const ask = (statement: string) => within(SILENCE_MS, connection().unsafe(statement).simple())

  const subscribe = async () => {
    const followed = [...channels]
    await ask(followed.map(([channel]) => `listen ${channel}`).join(';'))
    connected = true
    for (const [, handlers] of followed) for (const { subscribed } of handlers) subscribed()
  }
  // A dead link does not always close its socket; silence counts as a loss too.
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
      if (timer === undefined) await subscribe()
      else if (connected) {
        await ask(`listen ${channel}`)
        // If the link was lost meanwhile, the next beat takes the new channel along.
        if (connected) handlers.subscribed()
      }
      timer ??= setTimeout(beat, HEARTBEAT_MS)
      return {
        get connected() {
          return connected
        },
        async settled() {
          // Messages of earlier commits arrive before the answer to a later query.
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

const within = async <T>(ms: number, promise: PromiseLike<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([promise, silence])
  } finally {
    clearTimeout(timer)
  }
}
