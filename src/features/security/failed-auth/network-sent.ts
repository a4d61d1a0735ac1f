import { isIpAddress, throttleKey } from '../../../lib/ip.ts'

/**
 * The client_ip of rows that a caller means by an IPv4 address, an IPv6 address or the /64 of one;
 * undefined for any other text.
 */
export function networkSent(text: string): string | undefined {
  const ip = text.trim()
  const address = ip.includes(':') ? ip.replace(/\/64$/, '') : ip
  return isIpAddress(address) ? throttleKey(address) : undefined
}
