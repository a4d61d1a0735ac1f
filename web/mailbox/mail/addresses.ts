import type { Address } from './types.ts'

const EMAIL = /^[^\s<>@,;"]+@[^\s<>@,;"]+$/

/** Reads typed addresses, separated by commas, semicolons or line breaks. */
export function parseAddresses(typed: string): { addresses: Address[]; wrong: string[] } {
  const addresses: Address[] = []
  const wrong: string[] = []
  for (const text of split(typed)) {
    const address = parseAddress(text)
    if (address) addresses.push(address)
    else wrong.push(text)
  }
  return { addresses, wrong }
}

/** A comma inside of quotes belongs to the name. */
function split(typed: string): string[] {
  const pieces: string[] = []
  let piece = ''
  let isQuoted = false
  for (const [at, character] of [...typed].entries()) {
    if (character === '"' && typed[at - 1] !== '\\') isQuoted = !isQuoted
    if (!isQuoted && /[,;\n]/.test(character)) {
      pieces.push(piece)
      piece = ''
    } else piece += character
  }
  return [...pieces, piece].map((one) => one.trim()).filter(Boolean)
}

function parseAddress(text: string): Address | undefined {
  const named = /^(.*?)\s*<([^<>]*)>$/s.exec(text)
  const email = (named?.[2] ?? text).trim()
  if (!EMAIL.test(email)) return undefined
  const name = (named?.[1] ?? '').replace(/^"(.*)"$/s, '$1').replace(/\\(["\\])/g, '$1')
  return name ? { name, email } : { email }
}

/** The address as a person would type it; `parseAddresses` reads it back. */
export function showAddress({ name, email }: Address): string {
  if (!name) return email
  const isPlain = /^[\p{L}\p{N} .'_-]+$/u.test(name)
  return `${isPlain ? name : `"${name.replace(/["\\]/g, '\\$&')}"`} <${email}>`
}

export const showAddresses = (addresses: readonly Address[] | null | undefined): string =>
  (addresses ?? []).map(showAddress).join(', ')

/** The short form for lists: the name, or the address where there is none. */
export const nameOf = ({ name, email }: Address): string => name || email

const same = (one: Address, other: Address) => one.email.toLowerCase() === other.email.toLowerCase()

/** Each address once, without those of `without`. */
export const distinct = (
  addresses: readonly Address[],
  without: readonly Address[] = [],
): Address[] =>
  addresses.filter(
    (one, at) =>
      addresses.findIndex((other) => same(one, other)) === at &&
      !without.some((other) => same(one, other)),
  )

/** Words of search and autocompletion: the address contains the text. */
export const isLike = ({ name, email }: Address, text: string): boolean =>
  `${name ?? ''} ${email}`.toLowerCase().includes(text.trim().toLowerCase())
