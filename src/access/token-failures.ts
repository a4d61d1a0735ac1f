import type { Core } from '../core.ts'
import { failures } from '../lib/failures.ts'
import { type Networks, parseNetworks, throttleKey } from '../lib/ip.ts'
import { MINUTE_MS, SECOND_MS } from '../lib/time.ts'
import { TooManyAttempts } from './access.errors.ts'

/**
 * Programs send an expired token now and then, and tokens cannot be guessed, so this only bounds the work
 * that one IP address causes.
 */
export const MAX_TOKEN_FAILURES_PER_IP = 200

type Needs = Pick<Core, 'config' | 'now'>

/** Counts the access tokens of programs that were not valid, by network; each process by itself. */
export function tokenFailures({ config, now }: Needs) {
  const windowMs = config.AUTH_FAILURE_WINDOW_SECS * SECOND_MS
  const exempt = parseNetworks(config.AUTH_POLICY_EXEMPT) as Networks
  const byNetwork = failures(windowMs)
  let prunedAt = 0

  return {
    /** Throws when there were too many. */
    refuseMany(ip: string): void {
      if (exempt.contains(ip)) return
      const network = throttleKey(ip)
      const at = now().getTime()
      if (byNetwork.count(network, at) < MAX_TOKEN_FAILURES_PER_IP) return
      const first = byNetwork.first(network, at) ?? at
      throw new TooManyAttempts(new Date(first + windowMs), now())
    },
    add(ip: string): void {
      const at = now().getTime()
      byNetwork.add(throttleKey(ip), at)
      if (at - prunedAt < MINUTE_MS) return
      prunedAt = at
      byNetwork.prune(at)
    },
  }
}
