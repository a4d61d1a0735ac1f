import { BlockList, isIP, isIPv4 } from 'node:net'

/** A set of networks that answers whether an address lies in one of them. */
export interface Networks {
  contains(address: string): boolean
  readonly isEmpty: boolean
}

/** Parses `10.0.0.0/8, ::1`; undefined when an entry is neither an address nor a network. */
export function parseNetworks(entries: readonly string[]): Networks | undefined {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix, ...rest] = entry.split('/')
    const family = isIP(address)
    if (family === 0 || rest.length > 0) return undefined
    const bits = family === 4 ? 32 : 128
    const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1
    if (length < 0 || length > bits) return undefined
    list.addSubnet(address, length, family === 4 ? 'ipv4' : 'ipv6')
  }
  return {
    isEmpty: entries.length === 0,
    contains: (address) => isIP(address) > 0 && list.check(address, familyOf(address)),
  }
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** `::ffff:192.0.2.1` is how a dual-stack socket shows an IPv4 peer. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIPv4(address.slice(7)) ? address.slice(7) : address
