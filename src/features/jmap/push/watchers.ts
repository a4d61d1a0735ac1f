import type { Core } from '../../../core.ts'
import { listenForChanges } from '../imap/notifications.ts'
import type { MailAccount } from '../index/accounts.repository.ts'
import type { MailStore } from '../index/open-mail.ts'

const POLL_MS = 30_000
const AGAIN_MS = 5000
/** Several changes at once are one comparison. */
const GATHER_MS = 100

interface Watch {
  account: MailAccount
  watchers: number
  stop: () => void
}

type Needs = Pick<Core, 'config' | 'log' | 'mailServers'>

export type Watchers = ReturnType<typeof mailWatchers>

/**
 * Keeps the indexes of accounts up to date while a program waits for changes: one connection per
 * account on which the mail server reports changes of all folders. When there are not enough of them,
 * organizations have equal shares, and the rest of their accounts is polled.
 */
export function mailWatchers(core: Needs, store: MailStore) {
  const watches = new Map<string, Watch>()
  /** The accounts with a connection, by organization. */
  const listening = new Map<string, Set<Watch>>()
  let isStopped = false

  const countOf = ({ organizationId }: MailAccount) => listening.get(organizationId)?.size ?? 0
  const connections = () => [...listening.values()].reduce((sum, { size }) => sum + size, 0)

  async function compare({ account }: Watch): Promise<void> {
    try {
      await store.use(account, async () => {})
    } catch (error) {
      if (!isStopped) core.log.info({ err: error, account: account.id }, 'comparison failed')
    }
  }

  function poll(watch: Watch): () => void {
    const timer = setInterval(() => void compare(watch), POLL_MS)
    timer.unref()
    return () => clearInterval(timer)
  }

  function listen(watch: Watch): () => void {
    const ended = new AbortController()
    let gathering: NodeJS.Timeout | undefined
    const changed = () => {
      gathering ??= setTimeout(() => {
        gathering = undefined
        void compare(watch)
      }, GATHER_MS)
    }
    void keepListening(watch, ended.signal, changed)
    return () => {
      clearTimeout(gathering)
      ended.abort()
    }
  }

  const isListening = (watch: Watch) => listening.get(watch.account.organizationId)?.has(watch)

  function startListening(watch: Watch): void {
    const { organizationId } = watch.account
    watch.stop()
    listening.set(organizationId, (listening.get(organizationId) ?? new Set()).add(watch))
    watch.stop = listen(watch)
  }

  function stopListening(watch: Watch): void {
    const { organizationId } = watch.account
    watch.stop()
    const own = listening.get(organizationId)
    if (own?.delete(watch) && own.size === 0) listening.delete(organizationId)
  }

  /** Takes a connection from an organization that has at least two more, if there is no other. */
  function findRoom({ account }: Watch): boolean {
    if (connections() < core.config.JMAP_PUSH_CONNECTIONS) return true
    const [largest] = [...listening.values()].sort((one, other) => other.size - one.size)
    const [watch] = largest ?? []
    if (!largest || !watch || largest.size < countOf(account) + 2) return false
    stopListening(watch)
    watch.stop = poll(watch)
    return true
  }

  /** Gives a connection that is free to the organization that has the fewest. */
  function fillRoom(): void {
    const [next] = [...watches.values()]
      .filter((watch) => !isListening(watch))
      .sort((one, other) => countOf(one.account) - countOf(other.account))
    if (next && connections() < core.config.JMAP_PUSH_CONNECTIONS) startListening(next)
  }

  async function keepListening(watch: Watch, signal: AbortSignal, changed: () => void) {
    while (!signal.aborted) {
      try {
        await listenForChanges(core, watch.account.email, signal, changed)
      } catch (error) {
        if (!signal.aborted) core.log.info({ err: error }, 'the mail server reports no changes')
      }
      if (!signal.aborted) await pause(AGAIN_MS, signal)
    }
  }

  return {
    get figures() {
      return { accounts: watches.size, connections: connections() }
    },
    /** Returns a function that ends it. */
    watch(account: MailAccount): () => void {
      let watch = watches.get(account.id)
      if (!watch) {
        watch = { account, watchers: 0, stop: () => {} }
        watches.set(account.id, watch)
        if (findRoom(watch)) startListening(watch)
        else watch.stop = poll(watch)
        void compare(watch)
      }
      const mine = watch
      mine.watchers++
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        if (--mine.watchers > 0) return
        stopListening(mine)
        watches.delete(account.id)
        if (!isStopped) fillRoom()
      }
    },
    stop() {
      isStopped = true
      for (const { stop } of watches.values()) stop()
      watches.clear()
    },
  }
}

const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
