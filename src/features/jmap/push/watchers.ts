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
 * account on which the mail server reports changes of all folders.
 */
export function mailWatchers(core: Needs, store: MailStore) {
  const watches = new Map<string, Watch>()
  let connections = 0
  let isStopped = false

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
    connections++
    void keepListening(watch, ended.signal, changed)
    return () => {
      connections--
      clearTimeout(gathering)
      ended.abort()
    }
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
      return { accounts: watches.size, connections }
    },
    /** Returns a function that ends it. */
    watch(account: MailAccount): () => void {
      let watch = watches.get(account.id)
      if (!watch) {
        watch = { account, watchers: 0, stop: () => {} }
        watches.set(account.id, watch)
        const hasRoom = connections < core.config.JMAP_PUSH_CONNECTIONS
        watch.stop = hasRoom ? listen(watch) : poll(watch)
        void compare(watch)
      }
      const mine = watch
      mine.watchers++
      let isEnded = false
      return () => {
        if (isEnded) return
        isEnded = true
        if (--mine.watchers > 0) return
        mine.stop()
        watches.delete(account.id)
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
