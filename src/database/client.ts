import { connect as connectSocket, type Socket } from 'node:net'
import type { Sql } from 'postgres'
import type { Budget } from './budget.ts'
import { connect, type Target } from './connect.ts'
import { NoAnswer } from './outage.ts'

// Locks of a transaction whose client has vanished end with it.
const IDLE_TRANSACTION_MS = 60_000
const READ_ONLY = '25006'
/** The value of `backend` in SQL, for a row of pg_stat_activity. */
export const BACKEND = "pid || ' ' || backend_start"

export interface Opening {
  name: string
  budget: Budget
  needsPrimary: boolean
  /** Opening the connection, with the look at what kind of server answers, may take this long. */
  connectMs: number
  onnotify?: (channel: string, payload: string) => void
  /** Called when the server did not answer in time. */
  silent?: () => void
  lost?: () => void
}

/**
 * One connection. postgres.js would open another one when it is lost, in the middle of a transaction
 * too; a client is discarded instead.
 */
export class Client {
  isLost = false
  /** The process of the server, by its id and start: ids are used again. */
  backend = ''
  readonly openedAt = performance.now()
  readonly #sql: Sql
  readonly #opening: Opening
  #socket: Socket | undefined
  #running: { since: number; giveUp(reason: string): void } | undefined

  constructor(target: Target, opening: Opening) {
    this.#opening = opening
    const { name, connectMs, onnotify } = opening
    this.#sql = connect(target, {
      max: 1,
      max_lifetime: null,
      idle_timeout: 0,
      connect_timeout: connectMs / 1000,
      connection: { application_name: `mailplane ${name}`, TimeZone: 'UTC' },
      onclose: () => this.discard(),
      ...(onnotify && { onnotify }),
      // An own socket, because a silent one has to be destroyed: the end that postgres.js sends waits
      // for an answer.
      socket: (address: Address) => {
        this.#socket = openSocket(target, address)
        return this.#socket
      },
    } as never)
  }

  /** Opens the connection. Rejects if the server is a replica and a primary is needed. */
  static async open(target: Target, opening: Opening): Promise<Client> {
    const client = new Client(target, opening)
    const { budget, connectMs, needsPrimary } = opening
    try {
      // Not in the startup packet, which pgbouncer refuses.
      const answers = await client.run(
        (sql) =>
          sql
            .unsafe(
              `set statement_timeout = ${budget.statementMs}; set lock_timeout = ${budget.lockMs};
               set idle_in_transaction_session_timeout = ${Math.max(IDLE_TRANSACTION_MS, budget.statementMs)};
               select current_setting('transaction_read_only') as read_only, ${BACKEND} as backend
               from pg_stat_activity where pid = pg_backend_pid()`,
            )
            .simple(),
        connectMs,
      )
      const [last] = (answers as unknown as { read_only: string; backend: string }[][]).at(-1) ?? []
      if (needsPrimary && last?.read_only !== 'off') {
        throw Object.assign(new Error('the server is not the primary'), { code: READ_ONLY })
      }
      client.backend = last?.backend ?? ''
      return client
    } catch (error) {
      client.discard()
      throw error
    }
  }

  /** Runs one statement. A server that does not answer in time costs the connection. */
  async run<Result>(
    statement: (sql: Sql) => PromiseLike<Result>,
    silenceMs = this.#opening.budget.silenceMs,
  ): Promise<Result> {
    if (this.isLost) {
      const lost = new Error('the connection was lost during the transaction')
      throw Object.assign(lost, { code: 'CONNECTION_CLOSED' })
    }
    let isAnswered = false
    let timer: NodeJS.Timeout | undefined
    const silence = new Promise<never>((_, reject) => {
      const giveUp = (reason: string) => {
        if (isAnswered) return
        reject(new NoAnswer(reason))
        this.discard()
        this.#opening.silent?.()
      }
      this.#running = { since: performance.now(), giveUp }
      const late = `the database did not answer within ${silenceMs} ms`
      // After a pause of this process an answer may have arrived that was not read yet.
      timer = setTimeout(() => setImmediate(giveUp, late), silenceMs)
    })
    try {
      return await Promise.race([statement(this.#sql), silence])
    } catch (error) {
      // Any error but a refused statement means that the connection is broken.
      const { severity, code } = error as { severity?: string; code?: string }
      if (severity !== 'ERROR' || code === READ_ONLY) this.discard()
      throw error
    } finally {
      isAnswered = true
      this.#running = undefined
      clearTimeout(timer)
    }
  }

  /** The time at which the present statement began. */
  get runsSince(): number | undefined {
    return this.#running?.since
  }

  /** Gives up the present statement, and the connection with it. */
  giveUp = (reason: string) => this.#running?.giveUp(reason)

  close = () => this.#sql.end({ timeout: 5 })

  discard(): void {
    if (this.isLost) return
    this.isLost = true
    this.#opening.lost?.()
    const destroy = () => this.#socket?.destroy()
    this.#sql.end({ timeout: 0 }).then(destroy, destroy)
  }
}

/** The target as postgres.js has read it. */
interface Address {
  host: string[]
  port: number[]
  path: string | false
}

function openSocket(
  target: Target,
  { host: [given = ''], port: [port = 0], path }: Address,
): Socket {
  if (path) return connectSocket(path)
  // postgres.js takes the colons of an IPv6 address for the one before the port.
  const name = typeof target === 'string' ? new URL(target).hostname.replace(/^\[|\]$/g, '') : ''
  const host = name === '' ? given : name
  // postgres.js verifies the certificate for the name that the socket has.
  return Object.assign(connectSocket({ port, host, keepAlive: true }), { host })
}
