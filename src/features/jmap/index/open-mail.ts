import type { Core } from '../../../core.ts'
import { namedMutex } from '../../../lib/mutex.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { WireBroken } from '../../../mail/imap/wire.ts'
import { type Connection, openConnection } from '../imap/connection.ts'
import { ensureAccount, type MailAccount, refreshStatistics } from './accounts.repository.ts'
import { syncAccount } from './sync.ts'

const IDLE_MS = 2 * MINUTE_MS
/** Steps of older messages after which the statistics of the index are out of date. */
const ANALYZED_STEPS = 5

type Needs = Pick<Core, 'config' | 'db' | 'log' | 'mailServers' | 'workers'>

/** An account while a request uses it. */
export interface OpenMail {
  account: MailAccount
  /** The connection to the mail server. */
  imap(): Promise<Connection>
  /** Brings the index up to date, after a change on the mail server. */
  sync(): Promise<void>
}

/** A connection to the mail of an account, made when it is needed. */
interface Line {
  account: MailAccount
  connection: Connection | undefined
  /** False when a structure was too large for a response. */
  withStructure: boolean
}

interface Opened extends Line {
  idle: NodeJS.Timeout | undefined
  /** The connection that adds older messages beside the requests. */
  background: Line | undefined
}

export type MailStore = ReturnType<typeof mailStore>

/** The accounts that this process works on. Each has one connection, closed after two minutes. */
export function mailStore(core: Needs) {
  const opened = new Map<string, Opened>()
  const inTurn = namedMutex()
  const stopping = new AbortController()
  const figures = { synced: 0, open: () => opened.size }

  function find(account: MailAccount): Opened {
    const known = opened.get(account.id)
    // The rights of the holder may have changed, and another holder may share the account.
    if (known) return known
    const fresh: Opened = {
      account,
      connection: undefined,
      idle: undefined,
      withStructure: true,
      background: undefined,
    }
    opened.set(account.id, fresh)
    return fresh
  }

  async function connectionOf(one: Line): Promise<Connection> {
    if (one.connection && !one.connection.isBroken) return one.connection
    one.connection = await openConnection(core, one.account.email, stopping.signal)
    return one.connection
  }

  function close(one: Opened): void {
    clearTimeout(one.idle)
    one.connection?.close()
    one.background?.connection?.close()
    one.connection = undefined
    opened.delete(one.account.id)
  }

  function restUntilIdle(one: Opened): void {
    clearTimeout(one.idle)
    if (stopping.signal.aborted) {
      close(one)
      return
    }
    one.idle = setTimeout(() => {
      void inTurn([one.account.id], async () => {
        if (one.background) restUntilIdle(one)
        else close(one)
      })
    }, IDLE_MS)
    one.idle.unref()
  }

  async function step(one: Line, isBackground: boolean): Promise<boolean> {
    const isReused = one.connection !== undefined && !one.connection.isBroken
    const connection = await connectionOf(one)
    const { account, withStructure } = one
    figures.synced++
    try {
      const syncing = { core, account, connection, withStructure, isBackground }
      const { hasOlder } = await syncAccount(syncing)
      one.withStructure = true
      return hasOlder
    } catch (error) {
      if (!(error instanceof WireBroken)) throw error
      // Dovecot ends a connection whose folder was made anew. A new one may also be needed without the
      // structure of messages, which can exceed the limit of a response.
      if (!isReused && !withStructure) throw error
      if (!isReused) one.withStructure = false
      return step(one, isBackground)
    }
  }

  /** The first look at a large mailbox answers with its newest messages; the rest follows. */
  async function sync(one: Opened): Promise<void> {
    const hasOlder = await step(one, false)
    if (hasOlder && !one.background) void addOlder(one)
  }

  /**
   * Runs beside the requests, which do not wait for it. When both change the index at the same time,
   * the slower one reads again, as with two processes.
   */
  async function addOlder(one: Opened): Promise<void> {
    const line: Line = { account: one.account, connection: undefined, withStructure: true }
    one.background = line
    try {
      let hasOlder = true
      let steps = 0
      while (hasOlder && !stopping.signal.aborted) {
        hasOlder = await step(line, true)
        steps++
      }
      if (steps >= ANALYZED_STEPS) await refreshStatistics(core.db)
    } catch (error) {
      if (!stopping.signal.aborted) {
        core.log.warn({ err: error, account: one.account.id }, 'indexing stopped; it goes on later')
      }
    } finally {
      one.background = undefined
      line.connection?.close()
    }
  }

  async function open<Result>(
    account: MailAccount,
    isFresh: boolean,
    work: (mail: OpenMail) => Promise<Result>,
  ): Promise<Result> {
    const one = find(account)
    clearTimeout(one.idle)
    try {
      await ensureAccount(core.db, account)
      if (!isFresh) await sync(one)
      return await work({ account, imap: () => connectionOf(one), sync: () => sync(one) })
    } finally {
      restUntilIdle(one)
    }
  }

  return {
    figures,
    /**
     * Runs the work of an account one after the other, each with an index that is up to date unless
     * the caller has just done that (`isFresh`).
     */
    use: <Result>(
      account: MailAccount,
      work: (mail: OpenMail) => Promise<Result>,
      { isFresh = false } = {},
    ): Promise<Result> => inTurn([account.id], () => open(account, isFresh, work)),

    /** The same for two accounts, for copies between them. */
    useBoth: <Result>(
      to: MailAccount,
      from: MailAccount,
      work: (mail: OpenMail, source: OpenMail) => Promise<Result>,
    ): Promise<Result> =>
      inTurn([to.id, from.id], () =>
        open(to, false, (mail) => open(from, false, (source) => work(mail, source))),
      ),

    async stop(): Promise<void> {
      stopping.abort()
      for (const one of [...opened.values()]) close(one)
    },
  }
}
