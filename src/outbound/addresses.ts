import { isIP, isIPv4 } from 'node:net'
import { type Networks, parseNetworks } from '../lib/cidr.ts'

const networks = (...entries: string[]) => parseNetworks(entries) as Networks

/** The IANA registries of special-purpose addresses, and what clouds answer metadata on. */
const SPECIAL: readonly [kind: string, ranges: Networks][] = [
  ['an unspecified', networks('0.0.0.0/8', '::/128')],
  ['a loopback', networks('127.0.0.0/8', '::1/128')],
  ['a link-local', networks('169.254.0.0/16', 'fe80::/10')],
  ['a private', networks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10')],
  ['a shared (CGNAT)', networks('100.64.0.0/10')],
  // Answers with secrets of the machine although it looks public.
  ['a metadata', networks('168.63.129.16/32')],
  ['a multicast', networks('224.0.0.0/4', 'ff00::/8')],
  [
    'a documentation',
    networks('192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'),
  ],
  ['a benchmarking', networks('198.18.0.0/15')],
  // 6to4 and Teredo hide an IPv4 address.
  ['a tunnelled', networks('192.88.99.0/24', '2001::/32', '2002::/16')],
  ['a reserved', networks('192.0.0.0/24', '240.0.0.0/4', '2001::/23')],
]
const GLOBAL_UNICAST = networks('2000::/3')

/** What kind of address it is when it is no public one; undefined when it is. */
export function specialKind(address: string): string | undefined {
  if (isIP(address) === 0) return 'no'
  const plain = withinIpv6(address) ?? address
  const special = SPECIAL.find(([, range]) => range.contains(plain))
  if (special) return special[0]
  return isIPv4(plain) || GLOBAL_UNICAST.contains(plain) ? undefined : 'a reserved'
}

/** The IPv4 address that is meant by a mapped one, or by one of NAT64 (RFC 6052 §2.1). */
export function withinIpv6(address: string): string | undefined {
  if (isIP(address) !== 6 || address.includes('%')) return undefined
  const groups = groupsOf(address)
  const prefix = groups.slice(0, 6).join(':')
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return undefined
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16))
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The eight groups of an IPv6 address, however it was written. */
function groupsOf(address: string): string[] {
  // A URL writes all of them in hexadecimal and shortens one run of zeros.
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const before = head.split(':').filter(Boolean)
  const after = (tail ?? '').split(':').filter(Boolean)
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  return [...before, ...zeros, ...after]
}
