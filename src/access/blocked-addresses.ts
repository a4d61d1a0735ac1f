import type { Core } from '../core.ts'
import { WatchedCache } from '../database/watched-cache.ts'
import { findKeyBlock } from './throttle.repository.ts'

const MAX_CACHED = 50_000

type Needs = Pick<Core, 'db' | 'now'> & { isFresh(): boolean }

/** Milliseconds since the epoch; 0 for an IP address without a block. */
interface Block {
  until: number
}

export type BlockedAddresses = ReturnType<typeof blockedAddresses>

/** Blocks of IP addresses, cached because every request with an API key is checked. */
export function blockedAddresses({ db, now, isFresh }: Needs) {
  const cache = new WatchedCache<Block>({
    max: MAX_CACHED,
    isConnected: isFresh,
    tagsOf: (_block, ip) => [ip],
  })

  const endOf = ({ until }: Block): Date | undefined =>
    until > now().getTime() ? new Date(until) : undefined

  /** Reads the database and updates the cache. */
  async function read(ip: string): Promise<Date | undefined> {
    const block = await cache.load(ip, async () => {
      const until = await findKeyBlock(db, now(), ip)
      return { until: until === undefined ? 0 : Date.parse(until) }
    })
    return endOf(block)
  }

  return {
    /** The end of the block, if there is one. */
    until(ip: string): Date | undefined | Promise<Date | undefined> {
      const cached = cache.get(ip)
      return cached ? endOf(cached) : read(ip)
    },
    read,
    evict: (ip: string) => cache.evict(ip),
    evictAll: () => cache.evictAll(),
  }
}
