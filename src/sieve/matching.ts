import type { Operator } from './rules.ts'

/**
 * Compares like the mail server: by octets, ignoring the case of ASCII letters (RFC 4790 §9.2). A
 * `?` matches one octet, so an `ü` needs two of them. Both texts must be folded.
 */
export function compares(operator: Operator, text: string, pattern: string): boolean {
  if (operator === 'contains') return text.includes(pattern)
  return operator === 'is' ? text === pattern : matches(text, pattern)
}

/** One character for each octet, ASCII letters in lower case, line ends as CR LF. */
export const folded = (text: string): string =>
  Buffer.from(text.replace(/\r\n|\r|\n/g, '\r\n'), 'utf8')
    .toString('latin1')
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/**
 * RFC 5228 §2.7.1. The pieces between stars are found from left to right, each at its first place
 * after the one before. So a pattern without `?` takes about linear time.
 */
function matches(text: string, pattern: string): boolean {
  const [first = nothing, ...rest] = piecesOf(pattern)
  if (rest.length === 0) return first.length === text.length && isAt(text, first, 0)
  const last = rest.pop() as Piece
  if (!isAt(text, first, 0)) return false
  let at = first.length
  for (const piece of rest) {
    const found = placeOf(text, piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  const end = text.length - last.length
  return end >= at && isAt(text, last, end)
}

/** The part of a pattern between two stars. */
interface Piece {
  length: number
  /** Texts without wildcards and their offsets; `?` is between them. */
  literals: { offset: number; text: string }[]
}

const nothing: Piece = { length: 0, literals: [] }

const isAt = (text: string, { length, literals }: Piece, at: number): boolean =>
  at + length <= text.length && literals.every((one) => text.startsWith(one.text, at + one.offset))

function placeOf(text: string, piece: Piece, from: number): number {
  const [first] = piece.literals
  if (!first) return from + piece.length <= text.length ? from : -1
  for (let at = from; ; at++) {
    const found = text.indexOf(first.text, at + first.offset)
    if (found === -1) return -1
    at = found - first.offset
    if (isAt(text, piece, at)) return at
  }
}

/** A backslash escapes the next character. */
function piecesOf(pattern: string): Piece[] {
  const pieces: Piece[] = []
  let piece: Piece = { length: 0, literals: [] }
  let literal = ''
  const endLiteral = () => {
    if (literal === '') return
    piece.literals.push({ offset: piece.length - literal.length, text: literal })
    literal = ''
  }
  for (let at = 0; at < pattern.length; at++) {
    const isEscaped = pattern[at] === '\\' && at + 1 < pattern.length
    if (isEscaped) at++
    const character = pattern.charAt(at)
    if (!isEscaped && character === '*') {
      endLiteral()
      pieces.push(piece)
      piece = { length: 0, literals: [] }
      continue
    }
    if (!isEscaped && character === '?') endLiteral()
    else literal += character
    piece.length++
  }
  endLiteral()
  return [...pieces, piece]
}
