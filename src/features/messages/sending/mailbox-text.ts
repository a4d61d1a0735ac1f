import { toDomainName } from '../../../lib/domain-name.ts'
import { isEmailAddress } from '../../../lib/email.ts'
import { domainOf, localPartOf } from '../../../lib/mail-address.ts'
import { encodeWords } from '../../../mime/words.ts'

export interface Mailbox {
  name: string
  address: string
}

const WITH_NAME = /^\s*(?:"((?:[^"\\]|\\.)*)"|([^"<>]*?))\s*<\s*([^<>\s]+)\s*>\s*$/
const MAX_ADDRESS = 254

/** Reads `jane@acme.test` or `Jane <jane@acme.test>`; undefined for everything else. */
export function readMailbox(text: string): Mailbox | undefined {
  const named = WITH_NAME.exec(text)
  const quoted = named?.[1]?.replace(/\\(.)/g, '$1')
  const written = named ? (named[3] as string) : text.trim()
  if (!isEmailAddress(written) || !/^[\x21-\x7e]+$/.test(localPartOf(written))) return undefined
  const domain = toDomainName(domainOf(written))
  const address = `${localPartOf(written)}@${domain}`
  if (domain === undefined || address.length > MAX_ADDRESS) return undefined
  return { address, name: oneLine(quoted ?? named?.[2] ?? '') }
}

export function writeMailbox({ name, address }: Mailbox): string {
  if (name === '') return `<${address}>`
  const isPlain = /^[\x20-\x7e]*$/.test(name) && !name.includes('=?')
  const shown = isPlain ? `"${name.replace(/["\\]/g, '\\$&')}"` : encodeWords(name)
  return `${shown} <${address}>`
}

export const oneLine = (text: string): string =>
  text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed()
