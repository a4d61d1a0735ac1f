import { type HeaderLine, utf8 } from './headers.ts'

export type AuthorField = 'from' | 'sender'

/** An address of a From or Sender header, in lower case. */
export interface AuthorAddress {
  field: AuthorField
  address: string
}

export interface Authors {
  addresses: AuthorAddress[]
  /** A field that is present without any address. */
  empty: AuthorField | undefined
  /** The fields are so long that they were not read. */
  isTooLong: boolean
}

/** Room for more addresses than a message may have; 200 KB take 50 ms to read. */
const MAX_CHARACTERS = 32 * 1024

/** Headers may end at a bare carriage return for some mail programs, so it counts as a line end. */
const LINE = /\r\n|\r|\n/

/**
 * All addresses that a mail program could show as author of a message. Programs differ on malformed
 * headers, so an address outside of quotes and comments counts wherever it is.
 */
export function authorsIn(headers: readonly HeaderLine[]): Authors {
  const written = headers.flatMap(({ line }) => authorFields(line))
  const size = written.reduce((sum, { value }) => sum + value.length, 0)
  if (size > MAX_CHARACTERS) return { addresses: [], empty: undefined, isTooLong: true }
  const fields = written.map(({ field, value }) => ({ field, found: addressesIn(value) }))
  const addresses = fields.flatMap(({ field, found }) =>
    found.map((address) => ({ field, address })),
  )
  const empty = fields.find(({ found }) => found.length === 0)?.field
  return { addresses, empty, isTooLong: false }
}

function authorFields(line: string): { field: AuthorField; value: string }[] {
  const found: { field: AuthorField; value: string }[] = []
  for (const part of line.split(LINE)) {
    const name = /^(from|sender)[ \t]*:/i.exec(part)
    if (name) {
      found.push({
        field: name[1]?.toLowerCase() as AuthorField,
        value: part.slice(name[0].length),
      })
    } else if (/^[ \t]/.test(part)) {
      const last = found.at(-1)
      if (last) last.value += part
    }
  }
  return found
}

// Split into tokens first: one expression for a whole address is quadratic on long text.
const addressesIn = (value: string): string[] =>
  outsideOfQuotes(utf8(value))
    .replace(/\s+/g, ' ')
    .replace(/ ?([@.]) ?/g, '$1')
    .split(/[\s<>(),;:"]/)
    .filter((token) => /^.+@[^@]+$/.test(token))
    .map((address) => address.toLowerCase())

/**
 * The text without comments and quoted strings. A quoted local part stays, without quotes. Text with
 * an open quote or comment is returned as it is.
 */
function outsideOfQuotes(value: string): string {
  let text = ''
  let depth = 0
  for (let at = 0; at < value.length; at++) {
    const character = value[at] as string
    if (character === '\\') at += depth > 0 ? 1 : 0
    else if (character === '(') depth++
    else if (depth > 0) depth -= character === ')' ? 1 : 0
    else if (character === '"') {
      const end = closingQuote(value, at + 1)
      if (end === -1) return value
      if (/^\s*@/.test(value.slice(end + 1, end + 100))) {
        text += value.slice(at + 1, end).replace(/[\s<>(),;:"@]/g, '?')
      } else text += ' '
      at = end
    } else text += character
  }
  return depth > 0 ? value : text
}

function closingQuote(value: string, from: number): number {
  for (let at = from; at < value.length; at++) {
    if (value[at] === '\\') at++
    else if (value[at] === '"') return at
  }
  return -1
}
