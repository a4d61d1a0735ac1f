import { createHmac, type KeyObject } from 'node:crypto'
import { sameSecret } from '../../../lib/tokens.ts'

/** Behind most reverse proxies a request line has at most 8 KB; the address grows by a third. */
export const MAX_ADDRESS_BYTES = 5800
const MAC_BYTES = 16
const MAC_LETTERS = 22
const KEY_LETTERS = 3

export interface LinkKey {
  id: number
  secret: KeyObject
}

/** The content of a link that this service has signed. */
export interface SafeLink {
  organizationId: string
  address: string
  /** The target of a form: it takes the fields of the form along. */
  isForm: boolean
}

/**
 * The path below `/safe/`: a letter for the kind, the number of the key, the organization, the MAC,
 * then the address. Nothing is stored for a link.
 */
export function safePath(key: LinkKey, { organizationId, address, isForm }: SafeLink): string {
  const number = key.id.toString(36).padStart(KEY_LETTERS, '0')
  const head = `${isForm ? 'f' : 'l'}${number}${organizationId}`
  const mac = createHmac('sha256', key.secret)
    .update(`${head}\n`)
    .update(address)
    .digest()
    .subarray(0, MAC_BYTES)
  const encoded = Buffer.from(address).toString('base64url')
  // Mail programs take a dash at the end for the end of a sentence.
  const end = /[-_]$/.test(encoded) ? '/' : ''
  return `${head}${mac.toString('base64url')}/${encoded}${end}`
}

/** Undefined for a path that differs by a single byte from one that was signed. */
export function readSafePath(
  path: string,
  keyOf: (id: number) => LinkKey | undefined,
): SafeLink | undefined {
  const [, kind, number = '', organizationId = '', encoded = ''] = SHAPE.exec(path) ?? []
  const key = kind === undefined ? undefined : keyOf(Number.parseInt(number, 36))
  if (!key) return undefined
  const address = Buffer.from(encoded, 'base64url').toString('utf8')
  const link = { organizationId, address, isForm: kind === 'f' }
  return sameSecret(safePath(key, link), path) ? link : undefined
}

const SHAPE = new RegExp(
  `^([fl])([0-9a-z]{${KEY_LETTERS}})([\\w-]{1,255})[\\w-]{${MAC_LETTERS}}/([\\w-]+)/?$`,
)

/** Printable, and absolute however it is read: other addresses are written as browsers would. */
const AS_WRITTEN = /^https?:\/\/[\x21-\x7e]+$/i

/** The value of the header `Location`: the address byte for byte where a header can carry it. */
export const locationOf = (address: string): string =>
  AS_WRITTEN.test(address) ? address : new URL(address).href

/** A form that is sent with GET replaces the query of its target. */
export function withFields(address: string, query: string): string {
  const url = new URL(address)
  url.search = query
  url.hash = ''
  return url.href
}
