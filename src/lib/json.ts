import { isUtf8 } from 'node:buffer'

const MAX_DEPTH = 100
// Parsing more than this takes longer than 50 ms.
const MAX_VALUES = 100_000
const MAX_OBJECTS_AND_NAMES = 30_000

/** Parses JSON from outside: valid UTF-8, no NUL, no lone surrogates, no prototype tricks. */
export function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new Error('Body is not valid UTF-8')
  const { values, objects, depth, isClosed } = shapeOf(body)
  if (!isClosed) throw new Error('Body is not valid JSON')
  if (depth > MAX_DEPTH) throw new Error(`Body is nested deeper than ${MAX_DEPTH} levels`)
  if (values > MAX_VALUES || objects > MAX_OBJECTS_AND_NAMES) {
    throw new Error(
      `Body has more than ${MAX_VALUES} values, or more than ${MAX_OBJECTS_AND_NAMES} names, objects and lists`,
    )
  }
  const text = body.toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new Error('Body is not valid JSON')
  }
  // A forbidden string needs an escape or the word __proto__ in the text; without them the slow walk
  // is not needed.
  if (text.includes('\\') || text.includes('__proto__')) inspect(value)
  return value
}

interface Shape {
  values: number
  /** Names, objects and lists. */
  objects: number
  depth: number
  /** True if every object and list has an end. */
  isClosed: boolean
}

/** Looks at the punctuation outside of strings, which costs little, before the text is parsed. */
function shapeOf(body: Buffer): Shape {
  const shape = { values: 0, objects: 0, depth: 0 }
  let open = 0
  for (let i = 0; i < body.length; i++) {
    switch (body[i]) {
      case QUOTE:
        i = endOfString(body, i)
        break
      case COMMA:
        shape.values++
        break
      case COLON:
        shape.objects++
        break
      case BRACE:
      case BRACKET:
        shape.objects++
        shape.depth = Math.max(shape.depth, ++open)
        break
      case BRACE_END:
      case BRACKET_END:
        open--
    }
  }
  return { ...shape, isClosed: open === 0 }
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BRACKET = 0x5b
const BACKSLASH = 0x5c
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d

/** The position of the closing quote. */
function endOfString(body: Buffer, start: number): number {
  for (let i = start + 1; i < body.length; i++) {
    if (body[i] === BACKSLASH) i++
    else if (body[i] === QUOTE) return i
  }
  return body.length
}

function inspect(value: unknown): void {
  if (typeof value === 'string') {
    if (value.includes('\0')) throw new Error('Text must not contain NUL characters')
    if (!value.isWellFormed()) throw new Error('Text must be valid Unicode')
  } else if (Array.isArray(value)) {
    for (const entry of value) inspect(entry)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, entry] of Object.entries(value)) {
      inspect(name)
      if (name === '__proto__') throw new Error('Body must not contain the name __proto__')
      inspect(entry)
    }
  }
}
