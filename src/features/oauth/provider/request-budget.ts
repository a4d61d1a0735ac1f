import { throttleKey } from '../../../lib/ip.ts'
import { lruMap } from '../../../lib/lru-map.ts'
import { MINUTE_MS } from '../../../lib/time.ts'

const MAX_NETWORKS = 50_000

/** Limits the requests of an IPv4 address or IPv6 /64 in a minute. */
export function requestBudget(perMinute: number, now: () => Date) {
  const counts = lruMap<string, number>(MAX_NETWORKS)
  let minute = 0
  return {
    /** Returns whether a request from this IP address is within the limit. */
    spend(ip: string): boolean {
      const current = Math.floor(now().getTime() / MINUTE_MS)
      if (current !== minute) {
        minute = current
        counts.clear()
      }
      const network = throttleKey(ip)
      const count = (counts.get(network) ?? 0) + 1
      counts.set(network, count)
      return count <= perMinute
    },
  }
}
