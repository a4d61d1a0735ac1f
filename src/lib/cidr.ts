import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'

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

/**
 * An address in the one way we write it: IPv6 as RFC 5952 says, and IPv4 that a dual-stack socket
 * shows as `::ffff:192.0.2.1` as what it is. What is no address stays as it is.
 */
export function plainAddress(address: string): string {
  if (!isIPv6(address) || address.includes('%')) return address
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(written)
  if (!mapped) return written
  const [high, low] = [mapped[1], mapped[2]].map((part) => Number.parseInt(part as string, 16))
  return bytesOf([high as number, low as number]).join('.')
}

/** A network in the one way we write it: no host bits, no prefix where it is one address. */
export function plainNetwork(entry: string): string | undefined {
  const network = parseNetwork(entry)
  if (!network) return undefined
  const address = plainAddress(network.address)
  // A network of mapped addresses is one of IPv4; a wider one holds all of IPv4 and more.
  const isMapped = isIPv4(address) && !isIPv4(network.address)
  if (isMapped && network.length < 96) return masked(network.address, network.length)
  return masked(address, isMapped ? network.length - 96 : network.length)
}

function masked(address: string, length: number): string {
  const parts = isIPv4(address) ? address.split('.').map(Number) : bytesOf(groupsOf(address))
  if (length === parts.length * 8) return address
  const kept = parts.map((byte, index) => {
    const bits = Math.min(8, Math.max(0, length - index * 8))
    return byte & (0xff << (8 - bits)) & 0xff
  })
  if (isIPv4(address)) return `${kept.join('.')}/${length}`
  const groups = Array.from({ length: 8 }, (_, index) =>
    (((kept[index * 2] as number) << 8) | (kept[index * 2 + 1] as number)).toString(16),
  )
  return `${new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)}/${length}`
}

const bytesOf = (groups: number[]) => groups.flatMap((group) => [group >> 8, group & 0xff])

function groupsOf(address: string): number[] {
  const written = new URL(`http://[${address}]`).hostname.slice(1, -1)
  const [head = '', tail] = written.split('::')
  const read = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [read(head), read(tail ?? '')]
  const missing = tail === undefined ? 0 : 8 - before.length - after.length
  const zeros: string[] = Array(missing).fill('0')
  return [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
}
