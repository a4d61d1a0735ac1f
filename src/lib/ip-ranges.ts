import { isIP, isIPv4 } from 'node:net'
import { embeddedIpv4, type Networks, parseNetworks } from './ip.ts'

const networks = (...entries: string[]) => parseNetworks(entries) as Networks

/** The IANA registries of special-purpose IP addresses, and the metadata services of clouds. */
const SPECIAL = [
  ['unspecified', networks('0.0.0.0/8', '::/128')],
  ['loopback', networks('127.0.0.0/8', '::1/128')],
  ['link-local', networks('169.254.0.0/16', 'fe80::/10')],
  ['private', networks('10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10')],
  ['shared (CGNAT)', networks('100.64.0.0/10')],
  // Azure serves secrets of the machine on this IP address, which looks public.
  ['metadata', networks('168.63.129.16/32')],
  ['multicast', networks('224.0.0.0/4', 'ff00::/8')],
  [
    'documentation',
    networks('192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'),
  ],
  ['benchmarking', networks('198.18.0.0/15')],
  // 6to4 and Teredo hide an IPv4 address.
  ['tunnelled', networks('192.88.99.0/24', '2001::/32', '2002::/16')],
  ['reserved', networks('192.0.0.0/24', '240.0.0.0/4', '2001::/23')],
] as const
const GLOBAL_UNICAST = networks('2000::/3')

type SpecialRange = (typeof SPECIAL)[number][0]

/** The kind of an IP address that is not public; undefined for a public one. */
export function specialRange(text: string): SpecialRange | 'invalid' | undefined {
  if (isIP(text) === 0) return 'invalid'
  const ip = embeddedIpv4(text) ?? text
  const special = SPECIAL.find(([, range]) => range.contains(ip))
  if (special) return special[0]
  return isIPv4(ip) || GLOBAL_UNICAST.contains(ip) ? undefined : 'reserved'
}

/** True for an address of this machine; a name such as 127.example.com is none. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || specialRange(host) === 'loopback'
