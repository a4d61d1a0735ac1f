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

/** Follows a NOTIFY channel on a connection of its own, through restarts of the server. */
export async function listen(target: Target, channel: string, handlers: Handlers): Promise<Feed> {
  let connected = false
  let closed = false
  const lost = () => {
    connected = false
  }
  const sql: Sql = connect(target, {
    max: 1,
    idle_timeout: 0,
    max_lifetime: null,
    fetch_types: false,
    connection: { application_name: 'mailplane feed' },
    onclose: lost,
    onnotify: (_channel: string, payload: string) => handlers.message(payload),
  } as never)

  const subscribe = async () => {
    await within(SILENCE_MS, sql.unsafe(`listen ${channel}`))
    connected = true
    handlers.subscribed()
  }
  // A dead link does not always close its socket; silence counts as a loss too.
  const beat = async () => {
    try {
      if (connected) await within(SILENCE_MS, sql.unsafe('select 1'))
      else await subscribe()
    } catch {
      lost()
    }
    if (!closed) timer = setTimeout(beat, connected ? HEARTBEAT_MS : 250)
  }
  await subscribe()
  let timer = setTimeout(beat, HEARTBEAT_MS)

  return {
    get connected() {
      return connected
    },
    async settled() {
      // Messages of earlier commits arrive before the answer to a later query.
      await within(SILENCE_MS, sql.unsafe('select 1')).catch(lost)
    },
    async close() {
      closed = true
      clearTimeout(timer)
      await sql.end({ timeout: 1 })
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
