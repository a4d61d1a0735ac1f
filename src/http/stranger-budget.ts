import { throttleKey } from '../lib/ip.ts'
import { lruMap } from '../lib/lru-map.ts'
import { HOUR_MS } from '../lib/time.ts'

const PER_NETWORK = 60
const IN_TOTAL = 1200
const MAX_NETWORKS = 10_000

/**
 * Limits the audit rows that callers without a credential cause, because the table only grows: 60 an
 * hour per IPv4 address or IPv6 /64, 1200 an hour from all of them.
 */
export function strangerBudget(now: () => Date) {
  const counts = lruMap<string, number>(MAX_NETWORKS)
  let hour = 0
  let total = 0
  return {
    /** Returns whether a request from this IP address may leave another row. */
    spend(ip: string): boolean {
      const current = Math.floor(now().getTime() / HOUR_MS)
      if (current !== hour) {
        hour = current
        total = 0
        counts.clear()
      }
      const network = throttleKey(ip)
      const count = counts.get(network) ?? 0
      if (count >= PER_NETWORK || total >= IN_TOTAL) return false
      counts.set(network, count + 1)
      total++
      return true
    },
  }
}
