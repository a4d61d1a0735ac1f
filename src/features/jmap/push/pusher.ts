import type { Core } from '../../../core.ts'
import { namedLimiter, namedMutex } from '../../../lib/mutex.ts'
import {
  accountsByHolder,
  ensureAccount,
  type MailAccount,
  mayUse,
} from '../index/accounts.repository.ts'
import { changedKinds, stateOf } from '../index/change-log.ts'
import type { ChangeFeed } from './change-feed.ts'
import * as subscriptions from './push.repository.ts'
import type { PushSender } from './push-sender.ts'
import type { Watchers } from './watchers.ts'

const REFRESH_MS = 30_000
/** Receivers that hang delay only programs of their own organization. */
const AT_ONCE = 8

type Needs = Pick<Core, 'db' | 'log'> & {
  feed: ChangeFeed
  watchers: Watchers
  sender: PushSender
}

type Subscriber = subscriptions.Subscriber

/** Sends changes to the programs of holders that have subscribed to them. */
export function pusher({ db, log, feed, watchers, sender }: Needs) {
  /** By account: the holders whose programs wait, by their id, and the end of the watch. */
  const watched = new Map<string, { holders: Map<string, Subscriber>; end: () => void }>()
  /** By subscription that is being served: the accounts with changes that it has not got yet. */
  const waiting = new Map<string, Set<string>>()
  const inOrganization = namedLimiter(AT_ONCE)
  const running = new Set<Promise<void>>()
  const inTurn = namedMutex()
  /** Holders whose subscriptions changed after the last refresh began, which may know older ones. */
  const followed = new Set<string>()
  let refreshing: Promise<void> = Promise.resolve()

  async function watch(holder: Subscriber, accounts: readonly MailAccount[]): Promise<void> {
    for (const account of accounts) {
      const known = watched.get(account.id)
      const one = known ?? { holders: new Map(), end: watchers.watch(account) }
      watched.set(account.id, one)
      const before = one.holders.get(holder.id)?.subscription_ids
      one.holders.set(holder.id, holder)
      if (before?.join() === holder.subscription_ids.join()) continue
      try {
        // A new subscription hears of all changes from now on.
        await ensureAccount(db, account)
        await subscriptions.begin(db, holder.id, account.id, await stateOf(db, account.id))
      } catch (error) {
        one.holders.delete(holder.id)
        throw error
      }
    }
  }

  /** Holders have turns of their own: one does not wait until all of them are read. */
  const watchInTurn = (holderId: string, work: () => Promise<void>): Promise<void> =>
    inTurn([holderId], work).catch((error) =>
      log.warn({ err: error }, 'reading the push subscriptions failed'),
    )

  async function refresh(): Promise<void> {
    followed.clear()
    const holders = await subscriptions.subscribers(db)
    const accounts = await accountsByHolder(db, holders)
    for (const holder of holders) {
      await watchInTurn(holder.id, async () => {
        if (!followed.has(holder.id)) await watch(holder, accounts.get(holder.id) ?? [])
      })
    }
    for (const [accountId, { holders, end }] of watched) {
      for (const id of holders.keys()) {
        const isWanted = accounts.get(id)?.some((account) => account.id === accountId)
        if (!isWanted && !followed.has(id)) holders.delete(id)
      }
      if (holders.size > 0) continue
      end()
      watched.delete(accountId)
    }
  }

  function push(accountId: string): void {
    for (const holder of watched.get(accountId)?.holders.values() ?? []) {
      for (const id of holder.subscription_ids) {
        const accounts = waiting.get(id)
        if (accounts) accounts.add(accountId)
        else inBackground(serve(holder, id, new Set([accountId])))
      }
    }
  }

  /** The loop also visits accounts that are added meanwhile. */
  async function serve(holder: Subscriber, id: string, accounts: Set<string>): Promise<void> {
    waiting.set(id, accounts)
    try {
      for (const accountId of accounts) {
        accounts.delete(accountId)
        const pushing = inOrganization(holder.organization_id, () => pushTo(holder, id, accountId))
        await pushing.catch((error) => log.warn({ err: error }, 'push failed'))
      }
    } finally {
      waiting.delete(id)
    }
  }

  async function pushTo(holder: Subscriber, id: string, accountId: string): Promise<void> {
    if (!(await mayUse(db, holder.id, accountId))) return
    const row = (await subscriptions.subscriptionsOf(db, holder.id)).find((one) => one.id === id)
    const sent = row?.sent_states as Record<string, number> | undefined
    const since = sent?.[accountId]
    const state = await stateOf(db, accountId)
    if (!row || since === undefined || since === state) return
    const kinds = await changedKinds(db, accountId, since)
    const states = kinds
      .filter(({ kind }) => row.types === null || row.types.includes(kind))
      .map(({ kind, state: newest }) => [kind, String(newest)])
    const isMine = await subscriptions.claimPush(db, row, { ...sent, [accountId]: state })
    if (!isMine || states.length === 0) return
    const changed = { [accountId]: Object.fromEntries(states) }
    await sender.send(row, { '@type': 'StateChange', changed })
  }

  function inBackground(work: Promise<void>): void {
    const mine = work.finally(() => running.delete(mine))
    running.add(mine)
  }

  const refreshInTurn = () => {
    refreshing = refreshing
      .then(refresh)
      .catch((error) => log.warn({ err: error }, 'reading the push subscriptions failed'))
  }
  const stopListening = feed.onAny(push)
  const timer = setInterval(refreshInTurn, REFRESH_MS)
  timer.unref()
  refreshInTurn()

  return {
    /** For a holder whose subscriptions have changed: changes after the call are pushed. */
    follow(holderId: string): Promise<void> {
      followed.add(holderId)
      return watchInTurn(holderId, async () => {
        const holders = await subscriptions.subscribers(db, holderId)
        const accounts = await accountsByHolder(db, holders)
        for (const holder of holders) await watch(holder, accounts.get(holder.id) ?? [])
      })
    },
    async stop(): Promise<void> {
      clearInterval(timer)
      stopListening()
      await refreshing
      await Promise.all(running)
      for (const { end } of watched.values()) end()
    },
  }
}
