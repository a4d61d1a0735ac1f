import { toDomainName } from './domain-name.ts'
import { withoutSpaces } from './spaces.ts'

// Told before lower-casing, which turns the Kelvin sign into a k.
const LOCAL_PART = /^[A-Za-z0-9_%+-]+(\.[A-Za-z0-9_%+-]+)*$/
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]*[^.]$/u
const TOP_LEVEL = /\.([a-z]{2,}|xn--[a-z0-9-]+)$/
// RFC 5321 §4.5.3.1: 64 octets before the at sign; 256 of the path are 254 of the address.
const MAX_LOCAL_PART = 64
const MAX_ADDRESS = 254

export interface MailAddress {
  address: string
  localPart: string
  domain: string
}

/**
 * An address this host may give to somebody: lower case, a plain local part, the domain as DNS
 * writes it. Undefined for all others, also for those that RFC 5321 would let pass in quotes.
 */
export function toMailAddress(text: string): MailAddress | undefined {
  const [local = '', host = '', ...more] = (withoutSpaces(text) ?? '').split('@')
  if (more.length > 0 || !isLocalPart(local) || !DOMAIN.test(host)) return undefined
  const domain = toDomainName(host)
  if (!domain || !TOP_LEVEL.test(domain)) return undefined
  const localPart = local.toLowerCase()
  const address = `${localPart}@${domain}`
  return address.length <= MAX_ADDRESS ? { address, localPart, domain } : undefined
}

export const isLocalPart = (text: string): boolean =>
  text.length <= MAX_LOCAL_PART && LOCAL_PART.test(text)

/** What stands before and after the at sign of an address that is already known to be one. */
export const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)
