import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config.ts'

const TRIES = 2

/** Look-ups for one verification; what does not exist is an empty list. */
export interface DnsLookups {
  txt(name: string): Promise<string[]>
  mx(name: string): Promise<string[]>
  addresses(name: string): Promise<string[]>
  cname(name: string): Promise<string[]>
}

export class DnsUnavailable extends Error {}

/** Runs look-ups against the configured resolvers and gives up on all of them after a while. */
export type WithDns = <Result>(work: (dns: DnsLookups) => Promise<Result>) => Promise<Result>

export function dnsClient(config: Config): WithDns {
  return async (work) => {
    const totalMs = config.SVC_DNS_TIMEOUT * 1000
    const resolver = new Resolver({ timeout: totalMs / TRIES, tries: TRIES })
    if (config.SVC_DNS_SERVERS.length > 0) resolver.setServers(config.SVC_DNS_SERVERS)
    const done = new AbortController()
    const limit = sleep(totalMs, undefined, { signal: done.signal, ref: false })
      .then(() => resolver.cancel())
      .catch(() => {})
    try {
      return await work(lookups(resolver))
    } finally {
      done.abort()
      await limit
    }
  }
}

const lookups = (resolver: Resolver): DnsLookups => ({
  // A record may be cut into strings of 255 bytes; it means them joined.
  txt: async (name) => (await found(resolver.resolveTxt(name))).map((parts) => parts.join('')),
  mx: async (name) =>
    (await found(resolver.resolveMx(name)))
      .sort((one, other) => one.priority - other.priority)
      .map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, '')),
  cname: async (name) =>
    (await found(resolver.resolveCname(name))).map((target) =>
      target.toLowerCase().replace(/\.$/, ''),
    ),
  async addresses(name) {
    const [four, six] = await Promise.all([
      found(resolver.resolve4(name)),
      found(resolver.resolve6(name)),
    ])
    return [...four, ...six]
  },
})

async function found<Answer>(query: Promise<Answer[]>): Promise<Answer[]> {
  try {
    return await query
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(code)) return []
    throw new DnsUnavailable(`DNS did not answer (${code}); try again`)
  }
}
