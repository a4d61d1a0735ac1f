import { isUtf8 } from 'node:buffer'

/** An address in plain text, as mail programs turn it into a link. */
export interface FoundAddress {
  start: number
  end: number
  address: string
}

const MAX_BYTES = 10_000
// Spaces, angle brackets, quotes and control characters end an address.
const CANDIDATE = /https?:\/\/[^\x00-\x20"<>\x7f]+/gi
const NOT_ASCII = /[\x80-\xff]/
/** Letters that continue an address. Chinese, Japanese and Korean text often follows without a space. */
const CONTINUES = /^[\p{L}\p{M}\p{N}]$/u
const WITHOUT_SPACES = /^[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u30fc]$/u
const COMPLETE_NAME = /^https?:\/\/(?:[^/?#]*@)?[^/?#]*\.[a-z]{2,}(?::\d*)?(?:[/?#]|$)/i
const PUNCTUATION = ".,;:!?'"
const BRACKETS: Record<string, string> = { ')': '(', ']': '[', '}': '{' }

/** Finds addresses in a text that has one character for each byte. */
export function addressesIn(text: string, isUtf8Text: boolean): FoundAddress[] {
  const found: FoundAddress[] = []
  for (const { 0: match, index } of text.matchAll(CANDIDATE)) {
    if (match.length > MAX_BYTES) continue
    const address = withoutTail(isUtf8Text ? readable(match) : asciiOf(match))
    if (address.length <= 'https://'.length) continue
    found.push({ start: index, end: index + Buffer.byteLength(address), address })
  }
  return found
}

const asciiOf = (bytes: string): string => {
  const end = bytes.search(NOT_ASCII)
  return end === -1 ? bytes : bytes.slice(0, end)
}

/** The characters up to the first that does not belong to the address. */
function readable(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes
  const buffer = Buffer.from(bytes, 'latin1')
  if (!isUtf8(buffer)) return asciiOf(bytes)
  let address = ''
  for (const letter of buffer.toString('utf8')) {
    const isEnd =
      letter > '\x7f' &&
      (!CONTINUES.test(letter) || (WITHOUT_SPACES.test(letter) && COMPLETE_NAME.test(address)))
    if (isEnd) break
    address += letter
  }
  return address
}

/** Sentences end behind an address, and brackets close around it. */
function withoutTail(address: string): string {
  const counts = new Map<string, number>()
  for (const letter of address) counts.set(letter, (counts.get(letter) ?? 0) + 1)
  let end = address.length
  for (; end > 0; end--) {
    const last = address.charAt(end - 1)
    const opening = BRACKETS[last]
    const closed = counts.get(last) ?? 0
    if (opening === undefined && !PUNCTUATION.includes(last)) break
    if (opening !== undefined && (counts.get(opening) ?? 0) >= closed) break
    counts.set(last, closed - 1)
  }
  return address.slice(0, end)
}
