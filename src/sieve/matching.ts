import type { Operator } from './rules.ts'

/**
 * Compares as the mail server does: by octets, ASCII letters of either case alike (RFC 4790 §9.2).
 * So `?` stands for one octet, and an `ü` wants two of them.
 */
export function compares(operator: Operator, value: string, wanted: string): boolean {
  const text = folded(value)
  const pattern = folded(wanted)
  if (operator === 'contains') return text.includes(pattern)
  return operator === 'is' ? text === pattern : matches(text, pattern)
}

const folded = (text: string): string =>
  Buffer.from(text.replace(/\r\n|\r|\n/g, '\r\n'), 'utf8')
    .toString('latin1')
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())

const ANY = -1
const ONE = -2

/** RFC 5228 §2.7.1. Goes back to the last star only, so it takes no more than length × length. */
function matches(text: string, pattern: string): boolean {
  const wanted = glyphs(pattern)
  let at = 0
  let next = 0
  let star = -1
  let retry = 0
  while (at < text.length) {
    const glyph = wanted[next]
    if (glyph === ANY) {
      star = next++
      retry = at
    } else if (glyph === ONE || glyph === text.charCodeAt(at)) {
      next++
      at++
    } else if (star >= 0) {
      next = star + 1
      at = ++retry
    } else return false
  }
  while (wanted[next] === ANY) next++
  return next === wanted.length
}

/** A backslash takes the meaning from what follows it. */
function glyphs(pattern: string): number[] {
  const found: number[] = []
  for (let at = 0; at < pattern.length; at++) {
    const isEscaped = pattern[at] === '\\' && at + 1 < pattern.length
    if (isEscaped) at++
    const character = pattern[at]
    if (!isEscaped && character === '*') found.push(ANY)
    else if (!isEscaped && character === '?') found.push(ONE)
    else found.push(pattern.charCodeAt(at))
  }
  return found
}
