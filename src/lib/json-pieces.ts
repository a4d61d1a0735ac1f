/** Size of a value as JSON: bytes, about, and strings, numbers, objects and other values in it. */
export interface JsonSize {
  bytes: number
  values: number
}

/** The size of a value; undefined when it is over the limit, beyond which nothing is counted. */
export function jsonSize(value: unknown, limit: JsonSize): JsonSize | undefined {
  const size = { bytes: 0, values: 0 }
  const waiting = [value]
  while (waiting.length > 0) {
    const one = waiting.pop()
    size.values++
    size.bytes += 3
    if (typeof one === 'string') size.bytes += one.length
    else if (Array.isArray(one)) {
      if (size.values + one.length > limit.values) return undefined
      for (const entry of one) waiting.push(entry)
    } else if (typeof one === 'object' && one !== null) {
      for (const [name, entry] of Object.entries(one)) {
        size.bytes += name.length + 3
        waiting.push(entry)
      }
    } else size.bytes += 5
    if (size.bytes > limit.bytes || size.values > limit.values) return undefined
  }
  return size
}

const PIECE: JsonSize = { bytes: 64 * 1024, values: 4096 }

/** The JSON of a value in short pieces: writing a large one at once blocks the event loop. */
export function* jsonPieces(value: unknown): Generator<string> {
  if (jsonSize(value, PIECE)) yield JSON.stringify(value) ?? 'null'
  else if (typeof value === 'string') yield* stringPieces(value)
  else if (Array.isArray(value)) yield* listPieces(value)
  else yield* objectPieces(value as object)
}

/** A pair of surrogates that is cut is written as two escapes, which mean the same. */
function* stringPieces(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; at += PIECE.bytes) {
    yield JSON.stringify(text.slice(at, at + PIECE.bytes)).slice(1, -1)
  }
  yield '"'
}

function* listPieces(list: readonly unknown[]): Generator<string> {
  yield '['
  for (const [index, one] of list.entries()) {
    if (index > 0) yield ','
    yield* jsonPieces(one)
  }
  yield ']'
}

function* objectPieces(object: object): Generator<string> {
  let before = '{'
  for (const [name, one] of Object.entries(object)) {
    if (one === undefined) continue
    yield before
    yield* jsonPieces(name)
    yield ':'
    yield* jsonPieces(one)
    before = ','
  }
  yield before === '{' ? '{}' : '}'
}
