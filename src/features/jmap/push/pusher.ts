import type { Core } from '../../../core.ts'
import { accountsOf, mayUse } from '../index/accounts.repository.ts'
import { changedKinds, stateOf } from '../index/change-log.ts'
import type { ChangeFeed } from './change-feed.ts'
import { claimPush, type PushRow, subscribedHolders, subscriptionsOf } from './push.repository.ts'
import type { PushSender } from './push-sender.ts'
import type { Watchers } from './watchers.ts'

const REFRESH_MS = 30_000

type Needs = Pick<Core, 'db' | 'log'> & {
  feed: ChangeFeed
  watchers: Watchers
  sender: PushSender
}

type SubscribedHolder = Awaited<ReturnType<typeof subscribedHolders>>[number]

/** Sends changes to the programs of holders that have subscribed to them. */
export function pusher({ db, log, feed, watchers, sender }: Needs) {
  /** By account: the holders whose programs wait, and the end of the watch. */
  const watched = new Map<string, { holders: SubscribedHolder[]; end: () => void }>()
  let running: Promise<void> = Promise.resolve()

  async function refresh(): Promise<void> {
    const wanted = new Map<string, SubscribedHolder[]>()
    for (const holder of await subscribedHolders(db)) {
      for (const account of await accountsOf(db, holder)) {
        wanted.set(account.id, [...(wanted.get(account.id) ?? []), holder])
        const known = watched.get(account.id)
        if (!known) watched.set(account.id, { holders: [], end: watchers.watch(account) })
      }
    }
    for (const [accountId, one] of watched) {
      one.holders = wanted.get(accountId) ?? []
      if (one.holders.length > 0) continue
      one.end()
      watched.delete(accountId)
    }
  }

  async function push(accountId: string): Promise<void> {
    for (const holder of watched.get(accountId)?.holders ?? []) {
      if (!(await mayUse(db, holder.id, accountId))) continue
      for (const row of await subscriptionsOf(db, holder.id)) {
        if (row.is_verified) await pushTo(row, accountId)
      }
    }
  }

  async function pushTo(row: PushRow, accountId: string): Promise<void> {
    const sent = row.sent_states as Record<string, number>
    const state = await stateOf(db, accountId)
    const since = sent[accountId]
    // A new subscription hears of what happens from now on.
    const kinds = since === undefined ? [] : await changedKinds(db, accountId, since)
    const states = kinds
      .filter(({ kind }) => row.types === null || row.types.includes(kind))
      .map(({ kind, state: newest }) => [kind, String(newest)])
    if (since === state || !(await claimPush(db, row, { ...sent, [accountId]: state }))) return
    if (states.length === 0) return
    const changed = { [accountId]: Object.fromEntries(states) }
    await sender.send(row, { '@type': 'StateChange', changed })
  }

  const inTurn = (work: () => Promise<void>) => {
    running = running.then(work).catch((error) => log.warn({ err: error }, 'push failed'))
  }
  const stopListening = feed.onAny((accountId) => {
    if (watched.has(accountId)) inTurn(() => push(accountId))
  })
  const timer = setInterval(() => inTurn(refresh), REFRESH_MS)
  timer.unref()
  inTurn(refresh)

  return {
    /** After a subscription was verified. */
    refresh: () => inTurn(refresh),
    async stop(): Promise<void> {
      clearInterval(timer)
      stopListening()
      await running
      for (const { end } of watched.values()) end()
    },
  }
}
