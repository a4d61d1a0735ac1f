import type { LookupAddress, LookupOptions } from 'node:dns'
import { isIP, isIPv4, type LookupFunction } from 'node:net'
import { embeddedIpv4, type Networks, parseNetworks } from '../lib/ip.ts'
import { specialRange } from '../lib/ip-ranges.ts'

/** The target of an outbound call is not allowed. */
export class OutboundRefused extends Error {}

interface Needs {
  /** Networks that may be called although they are not public. */
  allow: readonly string[]
  /** Returns all IP addresses of a name, or an empty list. */
  resolve(name: string): Promise<string[]>
}

export type OutboundGuard = ReturnType<typeof outboundGuard>

/**
 * Limits calls to targets that tenants chose (SSRF). A name is resolved once, all its IP addresses
 * are checked, and the connection goes to exactly these: a later change of the DNS record has no
 * effect.
 */
export function outboundGuard({ allow, resolve }: Needs) {
  const allowed = parseNetworks(allow) as Networks

  /** Returns why the IP address must not be called; `host` is the text that the caller wrote. */
  function problemOfIp(ip: string, host: string): string | undefined {
    const range = specialRange(ip)
    if (range === undefined) return undefined
    if (allowed.contains(ip) || allowed.contains(embeddedIpv4(ip) ?? ip)) return undefined
    const verb = host === ip ? 'is' : 'leads to'
    const article = /^[aiu]/.test(range) ? 'an' : 'a'
    return `Refused: ${host} ${verb} ${article} ${range} address, which is called only when SVC_OUTBOUND_ALLOW has it`
  }

  function problemOfHost(host: string): string | undefined {
    const literal = literalOf(host)
    return literal === undefined ? undefined : problemOfIp(literal, host)
  }

  async function resolveChecked(host: string): Promise<LookupAddress[]> {
    const literal = literalOf(host)
    const ips = literal === undefined ? await resolve(host) : [literal]
    const problem = literal === undefined ? undefined : problemOfIp(literal, host)
    if (problem !== undefined) throw new OutboundRefused(problem)
    const mayCall = ips.length > 0 && ips.every((ip) => problemOfIp(ip, host) === undefined)
    // One message for a name without an address and for one of an internal network: which of the two
    // it is would show a tenant what names exist inside.
    if (!mayCall) throw new OutboundRefused(`Refused: ${host} has no public address in DNS`)
    return ips.map((ip) => ({ address: ip, family: isIPv4(ip) ? 4 : 6 }))
  }

  return {
    /** Checks a URL without DNS; names are checked when the connection is made. */
    problemOf(url: string): string | undefined {
      const target = URL.canParse(url) ? new URL(url) : undefined
      if (target?.protocol !== 'http:' && target?.protocol !== 'https:') {
        return 'Refused: the URL must start with http:// or https://'
      }
      if (target.username !== '' || target.password !== '') {
        return 'Refused: the URL must not hold a user name or a password'
      }
      return problemOfHost(hostOf(target))
    },

    /** Checks a host without DNS; names are checked when the connection is made. */
    problemOfHost,

    /** All IP addresses of a host, for clients that take no look-up function; throws when refused. */
    addressesOf: async (host: string): Promise<string[]> =>
      (await resolveChecked(host)).map(({ address }) => address),

    /** Replaces the system's look-up in `net.connect` and everything built on it. */
    lookup: ((host: string, options: LookupOptions, done: Done) => {
      resolveChecked(host).then(
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

/** The host of a URL for a look-up, without brackets and trailing dots. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.+$/, '')

/** RFC 6761 §6.3: `localhost` names are loopback whatever DNS returns. */
const literalOf = (host: string): string | undefined => {
  if (isIP(host) > 0) return host
  return /(^|\.)localhost$/i.test(host) ? '127.0.0.1' : undefined
}
