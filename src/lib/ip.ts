import { isIP, isIPv4 } from 'node:net'
import ipaddr from 'ipaddr.js'

type Ip = ipaddr.IPv4 | ipaddr.IPv6

/** A set of networks; it contains an IP address when one of the networks does. */
export interface Networks {
  contains(ip: string): boolean
  readonly isEmpty: boolean
}

/** A zone (`fe80::1%eth0`) is refused: it has a meaning on one machine only. */
export const isIpAddress = (text: string): boolean => isIP(text) > 0 && !text.includes('%')

/** IPv6 as in RFC 5952, IPv4-mapped IPv6 as IPv4; text that is no IP address stays unchanged. */
export const normalizeIp = (text: string): string =>
  isIPv4(text) || !isIpAddress(text) ? text : unmapped(parse(text)).toString()

/** Parses `10.0.0.0/8, ::1`; undefined when an entry is neither an IP address nor a network. */
export function parseNetworks(entries: readonly string[]): Networks | undefined {
  const networks: [ipaddr.IPv6, number][] = []
  for (const entry of entries) {
    const network = parseNetwork(entry)
    if (!network) return undefined
    const [ip, length] = network
    networks.push([asIpv6(ip), ip.kind() === 'ipv4' ? length + 96 : length])
  }
  return {
    isEmpty: networks.length === 0,
    contains(text) {
      if (networks.length === 0 || isIP(text) === 0) return false
      const ip = asIpv6(parse(text))
      return networks.some((network) => ip.match(network))
    },
  }
}

/** Accepts an IP address or a CIDR network. Host bits may be set. */
export const isNetwork = (entry: string): boolean => parseNetwork(entry) !== undefined

/** Clears the host bits, and drops the prefix length of a single IP address. */
export function normalizeNetwork(entry: string): string | undefined {
  const network = parseNetwork(entry)
  if (!network) return undefined
  const [ip, length] = network
  // A network wider than the IPv4-mapped range contains more than IPv4: it stays IPv6.
  const isMapped = isMappedIpv4(ip) && length >= 96
  return isMapped ? masked(ip.toIPv4Address(), length - 96) : masked(ip, length)
}

/** The /24 of an IPv4 address, the /64 of an IPv6 address; for logs that must not name a person. */
export function networkOf(text: string): string {
  if (isIP(text) === 0) return text
  const ip = unmapped(parse(text))
  return networkAddress(ip, ip.kind() === 'ipv4' ? 24 : 64).toString()
}

/**
 * The key that failures and blocks are counted by: an IPv4 address, or the /64 of an IPv6 address,
 * because one customer of a provider has at least a /64. Text that is no IP address stays unchanged.
 */
export function throttleKey(text: string): string {
  if (!text.includes(':')) return text
  const ip = normalizeIp(text)
  return isIP(ip) === 6 && isIpAddress(ip) ? `${networkOf(ip)}/64` : ip
}

/** The labels of an IP address from last to first, as DNS block lists use them (RFC 5782 §2.1). */
export function reversedLabels(text: string): string {
  const ip = unmapped(parse(text))
  const bytes = ip.toByteArray()
  const labels = ip.kind() === 'ipv4' ? bytes.map(String) : [...Buffer.from(bytes).toString('hex')]
  return labels.reverse().join('.')
}

/** The IPv4 address inside an IPv4-mapped IPv6 address or inside NAT64 (RFC 6052 §2.1). */
export function embeddedIpv4(text: string): string | undefined {
  if (isIP(text) !== 6 || text.includes('%')) return undefined
  const ip = asIpv6(parse(text))
  if (ip.isIPv4MappedAddress()) return ip.toIPv4Address().toString()
  return ip.match(NAT64) ? new ipaddr.IPv4(ip.toByteArray().slice(12)).toString() : undefined
}
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Call this after `isIP` only: ipaddr.js also accepts `10.1`, `0x7f.1` and octal octets. It reads
 * the deprecated `::10.0.0.1` as IPv4-mapped, which it is not (RFC 4291 §2.5.5.1), unless another
 * group is written out.
 */
const parse = (text: string): Ip =>
  ipaddr.parse(text.replace(/%.*/, '').replace(/^::(?=\d+\.)/, '::0:'))

function parseNetwork(entry: string): [ip: Ip, length: number] | undefined {
  const [text = '', prefix, ...rest] = entry.split('/')
  if (!isIpAddress(text) || rest.length > 0) return undefined
  const ip = parse(text)
  const bits = ip.kind() === 'ipv4' ? 32 : 128
  if (prefix === undefined) return [ip, bits]
  const length = /^(0|[1-9]\d{0,2})$/.test(prefix) ? Number(prefix) : Number.NaN
  return length <= bits ? [ip, length] : undefined
}

function masked(ip: Ip, length: number): string {
  const isSingle = length === ip.toByteArray().length * 8
  return isSingle ? ip.toString() : `${networkAddress(ip, length).toString()}/${length}`
}

const networkAddress = (ip: Ip, length: number): Ip =>
  ip.kind() === 'ipv4'
    ? ipaddr.IPv4.networkAddressFromCIDR(`${ip.toString()}/${length}`)
    : ipaddr.IPv6.networkAddressFromCIDR(`${ip.toString()}/${length}`)

const isMappedIpv4 = (ip: Ip): ip is ipaddr.IPv6 =>
  ip.kind() === 'ipv6' && (ip as ipaddr.IPv6).isIPv4MappedAddress()

const unmapped = (ip: Ip): Ip => (isMappedIpv4(ip) ? ip.toIPv4Address() : ip)

/** IPv4 as IPv4-mapped IPv6, so that all IP addresses are compared in one family. */
const asIpv6 = (ip: Ip): ipaddr.IPv6 =>
  ip.kind() === 'ipv4' ? (ip as ipaddr.IPv4).toIPv4MappedAddress() : (ip as ipaddr.IPv6)
