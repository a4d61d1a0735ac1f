import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP, isIPv4, type LookupFunction } from 'node:net'
import { type Networks, parseNetworks } from '../lib/cidr.ts'
import { specialKind, withinIpv6 } from './addresses.ts'

/** A target that nobody may make this host call. */
export class OutboundRefused extends Error {}

interface Needs {
  /** Networks that may be called although they are not public. */
  allow: readonly string[]
  /** All addresses of a name; none when it has none. */
  resolve(name: string): Promise<string[]>
}

export type OutboundGuard = ReturnType<typeof outboundGuard>

/**
 * Says where calls to targets that tenants chose may go. A name is resolved once, all its addresses
 * are judged, and the connection is made to those very addresses: what the name means a moment later
 * does not matter.
 */
export function outboundGuard({ allow, resolve }: Needs) {
  const allowed = parseNetworks(allow) as Networks

  /** What is wrong with calling this address; `host` is what the caller wrote. */
  function problemOfAddress(address: string, host: string): string | undefined {
    const kind = specialKind(address)
    if (kind === undefined) return undefined
    if (allowed.contains(address) || allowed.contains(withinIpv6(address) ?? address))
      return undefined
    // Not which address: what a name means inside this network is nobody's business.
    const what = host === address ? 'is' : 'leads to'
    return `Refused: ${host} ${what} ${kind} address, which is called only when SVC_OUTBOUND_ALLOW has it`
  }

  async function addressesOf(host: string): Promise<LookupAddress[]> {
    const literal = literalOf(host)
    const addresses = literal === undefined ? await resolve(host) : [literal]
    if (addresses.length === 0) throw new OutboundRefused(`${host} has no address in DNS`)
    for (const address of addresses) {
      const problem = problemOfAddress(address, literal === undefined ? host : address)
      if (problem !== undefined) throw new OutboundRefused(problem)
    }
    return addresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }))
  }

  return {
    /** What is wrong with a URL as it is written; names are judged when they are called. */
    problemOf(url: string): string | undefined {
      const target = URL.canParse(url) ? new URL(url) : undefined
      if (target?.protocol !== 'http:' && target?.protocol !== 'https:') {
        return 'Refused: the URL must start with http:// or https://'
      }
      if (target.username !== '' || target.password !== '') {
        return 'Refused: the URL must not hold a user name or a password'
      }
      const host = hostOf(target)
      const literal = literalOf(host)
      return literal === undefined ? undefined : problemOfAddress(literal, host)
    },

    /** What is wrong with a host as it is written; undefined also for names that lead astray. */
    problemOfHost(host: string): string | undefined {
      const literal = literalOf(host)
      return literal === undefined ? undefined : problemOfAddress(literal, host)
    },

    /** All addresses of a host that may be called, for clients that take no look-up; throws otherwise. */
    addressesOf: async (host: string): Promise<string[]> =>
      (await addressesOf(host)).map(({ address }) => address),

    /** In place of the system's look-up, for `net.connect` and all that builds on it. */
    lookup: ((host: string, options: LookupOptions, done: Done) => {
      addressesOf(host).then(
        (addresses) => {
          const [first] = addresses as [LookupAddress]
          if (options.all) done(null, addresses)
          else done(null, first.address, first.family)
        },
        (error: Error) => done(error, []),
      )
    }) as LookupFunction,
  }
}

type Done = (error: Error | null, address: string | LookupAddress[], family?: number) => void

/** The host of a URL as it is looked up: without brackets, and without the dot of the root. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')

/** RFC 6761 §6.3: these names are this host, whatever DNS says. */
const literalOf = (host: string): string | undefined => {
  if (isIP(host) > 0) return host
  return /(^|\.)localhost$/i.test(host) ? '127.0.0.1' : undefined
}
