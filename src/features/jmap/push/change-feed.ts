import type { Core } from '../../../core.ts'
import type { Feed } from '../../../database/listen.ts'
import { CHANNEL } from '../index/change-log.ts'

type Listener = (accountId: string) => void

export type ChangeFeed = Awaited<ReturnType<typeof openChangeFeed>>

/** Tells of changes to indexes, also those that other processes make. */
export async function openChangeFeed({ listen }: Pick<Core, 'listen'>) {
  const byAccount = new Map<string, Set<Listener>>()
  const everyAccount = new Set<Listener>()
  const tell = (accountId: string) => {
    for (const listener of byAccount.get(accountId) ?? []) listener(accountId)
    for (const listener of everyAccount) listener(accountId)
  }
  const feed: Feed = await listen(CHANNEL, {
    message: tell,
    // Messages may have been lost, so everybody looks.
    subscribed() {
      for (const accountId of byAccount.keys()) tell(accountId)
    },
  })
  return {
    /** Returns a function that ends it. */
    on(accountId: string, listener: Listener): () => void {
      const listeners = byAccount.get(accountId) ?? new Set()
      byAccount.set(accountId, listeners.add(listener))
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) byAccount.delete(accountId)
      }
    },
    onAny(listener: Listener): () => void {
      everyAccount.add(listener)
      return () => everyAccount.delete(listener)
    },
    close: () => feed.close(),
  }
}
