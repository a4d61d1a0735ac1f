import { toDomainName } from './domain-name.ts'
import { trimSpaces } from './spaces.ts'

// Tested before lower-casing, which turns the Kelvin sign into a k.
const LOCAL_PART = /^[A-Za-z0-9_%+-]+(\.[A-Za-z0-9_%+-]+)*$/
const DOMAIN = /^[\p{L}\p{M}\p{N}.-]*[^.]$/u
const TOP_LEVEL = /\.([a-z]{2,}|xn--[a-z0-9-]+)$/
// RFC 5321 §4.5.3.1: 64 octets for the local part; a path of 256 leaves 254 for the address.
const MAX_LOCAL_PART = 64
const MAX_ADDRESS = 254
// Normalizing may shorten an address, but not by this much.
const MAX_READ = 1000

export interface MailAddress {
  address: string
  localPart: string
  domain: string
}

/**
 * Normalizes an e-mail address that can be hosted here: lower case, a plain local part, the domain
 * in A-labels. Undefined for all others, including the quoted local parts of RFC 5321.
 */
export function toMailAddress(text: string): MailAddress | undefined {
  const plain = trimSpaces(text) ?? ''
  if (plain.length > MAX_READ) return undefined
  const [local = '', host = '', ...more] = plain.split('@')
  if (more.length > 0 || !isLocalPart(local) || !DOMAIN.test(host)) return undefined
  const domain = toDomainName(host)
  if (!domain || !TOP_LEVEL.test(domain)) return undefined
  const localPart = local.toLowerCase()
  const address = `${localPart}@${domain}`
  return address.length <= MAX_ADDRESS ? { address, localPart, domain } : undefined
}

export const isLocalPart = (text: string): boolean =>
  text.length <= MAX_LOCAL_PART && LOCAL_PART.test(text)

/** Expects a valid address, as `domainOf` does. */
export const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))
export const domainOf = (address: string): string => address.slice(address.lastIndexOf('@') + 1)

/** The address that receives `name+detail@domain`: recipient_delimiter of Postfix is `+`. */
export const withoutDetail = (address: string): string =>
  address.replace(/^([^@+]+)\+[^@]*@/, '$1@')
