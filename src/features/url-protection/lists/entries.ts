import { isIP } from 'node:net'
import { toDomainName } from '../../../lib/domain-name.ts'

const MAX_PREFIXES = 64
const UNRESERVED = /%([46][1-9a-f]|[57][0-9a]|3\d|2[de]|5f|7e)/gi

/** The host of an address as lists write it: without the brackets of IPv6 and the last dot. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')

/** The host and all names above it: a listed name covers what is below it. */
export function namesAbove(host: string): string[] {
  if (isIP(host) !== 0) return [host]
  const names = [host]
  for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
    names.push(host.slice(dot + 1))
  }
  return names
}

/**
 * The beginnings of an address that a list may name: host and path up to the end of a folder, of the
 * path or of the query. Scheme, user and fragment do not count.
 */
export function prefixesOf(url: URL): string[] {
  const whole = keyOf(url)
  const first = whole.indexOf('/')
  const prefixes: string[] = []
  for (let at = first + 1; at < whole.length && prefixes.length < MAX_PREFIXES; at++) {
    const letter = whole.charAt(at)
    if (letter === '/' || letter === '?' || letter === '&') prefixes.push(whole.slice(0, at))
  }
  prefixes.push(whole)
  // The address of a host alone is listed by its name.
  return prefixes.map(withoutSlash).filter((prefix) => url.port !== '' || prefix.includes('/'))
}

const keyOf = (url: URL): string =>
  `${hostOf(url)}${url.port && `:${url.port}`}${url.pathname}${url.search}`.replace(
    UNRESERVED,
    (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)),
  )

const withoutSlash = (text: string): string => text.replace(/\/+$/, '')

/** An entry of a list as it is compared. */
export type Entry = { host: string } | { prefix: string }

/** Reads a host, a host with a path, or a URL; undefined for anything else. */
export function readEntry(text: string): Entry | undefined {
  const given = /^https?:\/\//i.test(text) ? text : `http://${text.replace(/^\*?\./, '')}`
  if (!URL.canParse(given)) return undefined
  const url = new URL(given)
  const host = hostOf(url)
  if (url.username || url.password || !(isIP(host) !== 0 || toDomainName(host))) return undefined
  const prefix = withoutSlash(keyOf(url))
  return prefix.includes('/') || url.port ? { prefix } : { host }
}
