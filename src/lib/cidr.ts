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
    const network = parseNetwork(entry)
    if (!network) return undefined
    list.addSubnet(network.address, network.length, familyOf(network.address))
  }
  return {
    isEmpty: entries.length === 0,
    contains: (address) => isIP(address) > 0 && list.check(address, familyOf(address)),
  }
}

/** Whether it is an IPv4 or IPv6 address, or a CIDR network, whose host bits may be set. */
export const isNetwork = (entry: string): boolean => parseNetwork(entry) !== undefined

function parseNetwork(entry: string): { address: string; length: number } | undefined {
  const [address = '', prefix, ...rest] = entry.split('/')
  const family = isIP(address)
  // A zone (`fe80::1%eth0`) means something on one machine only.
  if (family === 0 || address.includes('%') || rest.length > 0) return undefined
  const bits = family === 4 ? 32 : 128
  if (prefix === undefined) return { address, length: bits }
  const length = /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.NaN
  return length <= bits ? { address, length } : undefined
}

const familyOf = (address: string) => (isIPv4(address) ? 'ipv4' : 'ipv6')

/** `::ffff:192.0.2.1` is how a dual-stack socket shows an IPv4 peer. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && isIPv4(address.slice(7)) ? address.slice(7) : address
