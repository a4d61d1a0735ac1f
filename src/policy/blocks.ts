import { ACCOUNT_BLOCK } from '../access/throttle.repository.ts'
import type { Core } from '../core.ts'
import type { Feed } from '../database/listen.ts'
import { WatchedCache } from '../database/watched-cache.ts'
import { findAccountBlock, findBlocks } from './auth.repository.ts'

const MAX_CACHED = 50_000
const IP_BLOCK = 'block:'

interface Needs extends Pick<Core, 'db' | 'listen' | 'log' | 'now'> {
  /** Called when the last block of an IP address is removed. */
  lifted(ip: string): void
  liftedAccount(user: string): void
}

/** The end of each block by login; the empty login stands for the whole IP address or account. */
type Ends = ReadonlyMap<string, number>

export type Blocks = Awaited<ReturnType<typeof startBlocks>>

/** Blocks of IP addresses and accounts, cached in memory. */
export async function startBlocks({ db, lifted, liftedAccount, listen, log, now }: Needs) {
  let feed: Feed | undefined
  let connectedAt = now().getTime()
  const newCache = () =>
    new WatchedCache<Ends>({
      max: MAX_CACHED,
      isConnected: () => feed?.connected ?? false,
      tagsOf: (_ends, key) => [key],
    })
  const ofIps = newCache()
  const ofAccounts = newCache()
  // Created by this process and not yet stored.
  const unstored = new Map<string, number>()

  const isInForce = (until: number | undefined) => until !== undefined && until > now().getTime()
  const readIp = (ip: string) => ofIps.load(ip, () => findBlocks(db, now(), ip))
  const readAccount = (user: string) =>
    ofAccounts.load(user, () => findAccountBlock(db, now(), user))

  async function changedIp(ip: string): Promise<void> {
    ofIps.evict(ip)
    if ((await readIp(ip)).size === 0) lifted(ip)
  }
  async function changedAccount(user: string): Promise<void> {
    ofAccounts.evict(user)
    if ((await readAccount(user)).size === 0) liftedAccount(user)
  }
  const failed = (error: unknown) => log.error({ err: error }, 'reading blocks failed')

  feed = await listen('mailplane_access', {
    message(payload) {
      if (payload.startsWith(IP_BLOCK)) changedIp(payload.slice(IP_BLOCK.length)).catch(failed)
      if (payload.startsWith(ACCOUNT_BLOCK)) {
        changedAccount(payload.slice(ACCOUNT_BLOCK.length)).catch(failed)
      }
    },
    subscribed() {
      connectedAt = now().getTime()
      ofIps.evictAll()
      ofAccounts.evictAll()
    },
  })

  /** Without the database the last known value counts. */
  function find(
    cache: WatchedCache<Ends>,
    key: string,
    read: (key: string) => Promise<Ends>,
    isBlockedBy: (ends: Ends | undefined) => boolean,
  ): boolean | Promise<boolean> {
    const cached = cache.get(key)
    if (cached) return isBlockedBy(cached)
    return read(key).then(isBlockedBy, () => isBlockedBy(cache.getStale(key)))
  }

  /** Blocks at once; call `stored` when the block is in the database. */
  function add(name: string, until: number, evict: () => void) {
    unstored.set(name, until)
    return {
      stored() {
        evict()
        if (unstored.get(name) === until) unstored.delete(name)
      },
    }
  }

  return {
    /** The time since the database became available, in milliseconds. */
    connectedFor: () => (feed?.connected ? now().getTime() - connectedAt : 0),
    isBlocked(ip: string, user: string): boolean | Promise<boolean> {
      if (isInForce(unstored.get(ip)) || isInForce(unstored.get(`${ip} ${user}`))) return true
      return find(
        ofIps,
        ip,
        readIp,
        (ends) => isInForce(ends?.get('')) || isInForce(ends?.get(user)),
      )
    },
    isAccountBlocked(user: string): boolean | Promise<boolean> {
      if (isInForce(unstored.get(` ${user}`))) return true
      return find(ofAccounts, user, readAccount, (ends) => isInForce(ends?.get('')))
    },
    closeAccount: (user: string, until: number) =>
      add(` ${user}`, until, () => ofAccounts.evict(user)),
    close: (ip: string, user: string | undefined, until: number) =>
      add(user === undefined ? ip : `${ip} ${user}`, until, () => ofIps.evict(ip)),
    stop: () => feed.close(),
  }
}
