import { Resolver } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../config/index.ts'

const TRIES = 2

/** DNS look-ups. A name or record type that does not exist gives an empty list. */
export interface DnsLookups {
  txt(name: string): Promise<string[]>
  mx(name: string): Promise<string[]>
  addresses(name: string): Promise<string[]>
  cname(name: string): Promise<string[]>
  /** As `priority weight port target`. */
  srv(name: string): Promise<string[]>
  /** As `flags tag "value"`. */
  caa(name: string): Promise<string[]>
  /** As `usage selector type data`; throws DnsUnavailable where Node cannot look it up (before 22.15). */
  tlsa(name: string): Promise<string[]>
}

export class DnsUnavailable extends Error {}

/** Runs look-ups against the configured resolvers; SVC_DNS_TIMEOUT limits all of them together. */
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
  // A long record is sent as several strings of at most 255 bytes.
  txt: async (name) => (await existing(resolver.resolveTxt(name))).map((parts) => parts.join('')),
  mx: async (name) =>
    (await existing(resolver.resolveMx(name)))
      .sort((one, other) => one.priority - other.priority)
      .map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, '')),
  cname: async (name) =>
    (await existing(resolver.resolveCname(name))).map((target) =>
      target.toLowerCase().replace(/\.$/, ''),
    ),
  srv: async (name) =>
    (await existing(resolver.resolveSrv(name))).map(
      ({ priority, weight, port, name: target }) =>
        `${priority} ${weight} ${port} ${target.toLowerCase().replace(/\.$/, '')}`,
    ),
  caa: async (name) =>
    (await existing(resolver.resolveCaa(name))).map(({ critical, ...property }) => {
      const [tag = '', value = ''] = Object.entries(property)[0] ?? []
      return `${critical} ${tag} "${value}"`
    }),
  async tlsa(name) {
    const { resolveTlsa } = resolver as Resolver & { resolveTlsa?: ResolveTlsa }
    if (resolveTlsa === undefined) {
      throw new DnsUnavailable('This version of Node cannot look up TLSA records')
    }
    return (await existing(resolveTlsa.call(resolver, name))).map(
      ({ certUsage, selector, match, data }) =>
        `${certUsage} ${selector} ${match} ${Buffer.from(data).toString('hex')}`,
    )
  },
  async addresses(name) {
    const [four, six] = await Promise.all([
      existing(resolver.resolve4(name)),
      existing(resolver.resolve6(name)),
    ])
    return [...four, ...six]
  },
})

type ResolveTlsa = (
  name: string,
) => Promise<{ certUsage: number; selector: number; match: number; data: ArrayBuffer }[]>

/** Returns no records for a name that does not exist. */
async function existing<Answer>(query: Promise<Answer[]>): Promise<Answer[]> {
  try {
    return await query
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(code)) return []
    throw new DnsUnavailable(`DNS did not answer (${code}); try again`)
  }
}
