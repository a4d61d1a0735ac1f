import { isIP } from 'node:net'
import type { Core } from '../../../core.ts'
import { reversedLabels } from '../../../lib/ip.ts'
import { lruMap } from '../../../lib/lru-map.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { within } from '../../../lib/timeout.ts'

const WAIT_MS = 500
const CACHED_MS = 5 * MINUTE_MS
const MAX_HOSTS = 10_000

/**
 * DNS lists of host names (RFC 5782). Without URL_DNSBL nothing is asked, because a list learns which
 * hosts are visited. A list that does not answer in time lists nothing.
 */
export function dnsLists({ config, now, withDns }: Pick<Core, 'config' | 'now' | 'withDns'>) {
  const known = lruMap<string, { listed: boolean; until: number }>(MAX_HOSTS)

  async function isListedIn(zone: string, host: string): Promise<boolean> {
    const name = isIP(host) === 0 ? host : reversedLabels(host)
    const answers = await withDns((dns) => dns.addresses(`${name}.${zone}`))
    // 127.255.255.0/24 means that the list refuses this resolver.
    return answers.some((ip) => ip.startsWith('127.') && !ip.startsWith('127.255.255.'))
  }

  return {
    async lists(host: string): Promise<boolean> {
      if (config.URL_DNSBL.length === 0) return false
      const at = now().getTime()
      const before = known.get(host)
      if (before && at < before.until) return before.listed
      const answers = config.URL_DNSBL.map((zone) => within(WAIT_MS, isListedIn(zone, host)))
      const results = await Promise.allSettled(answers)
      const listed = results.some((one) => one.status === 'fulfilled' && one.value)
      // Without an answer the next click asks again.
      if (listed || results.every(({ status }) => status === 'fulfilled')) {
        known.set(host, { listed, until: at + CACHED_MS })
      }
      return listed
    },
  }
}
