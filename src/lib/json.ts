import { isUtf8 } from 'node:buffer'

const MAX_DEPTH = 100

/** Parses JSON from outside: valid UTF-8, no NUL, no lone surrogates, no prototype tricks. */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new Error('Body is not valid UTF-8')
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('Body is not valid JSON')
  }
  // Strings can only hold something unwelcome, and keys only be special, where an escape or the
  // word itself is in the text; depth is bounded by the number of brackets.
  if (text.includes('\\') || text.includes('__proto__') || brackets(text) > MAX_DEPTH) {
    inspect(value, 0)
  }
  return value
}

function brackets(text: string): number {
  let count = 0
  for (let i = 0; i < text.length; i++) {
    const character = text.charCodeAt(i)
    if (character === 0x7b || character === 0x5b) count++
  }
  return count
}

function inspect(value: unknown, depth: number): void {
  if (depth > MAX_DEPTH) throw new Error(`Body is nested deeper than ${MAX_DEPTH} levels`)
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new Error('Text must not contain NUL characters')
    if (!value.isWellFormed()) throw new Error('Text must be valid Unicode')
  } else if (Array.isArray(value)) {
    for (const entry of value) inspect(entry, depth + 1)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, entry] of Object.entries(value)) {
      inspect(name, depth)
      if (name === '__proto__') throw new Error('Body must not contain the name __proto__')
      inspect(entry, depth + 1)
    }
  }
}
