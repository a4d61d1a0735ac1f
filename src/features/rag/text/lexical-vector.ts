import { memoize } from '../../../lib/cache.ts'
import { isStopWord } from './language.ts'

/** Stored with each vector, because vectors of different models cannot be compared. */
export const LEXICAL_MODEL = 'lexical-512-v1'
const DIMENSIONS = 512

const SHORTEST = 3
const LONGEST = 5
const MAX_WORD = 40
const MAX_KEPT = 50_000
const GRAMS_WEIGHT = 1.5

/**
 * A vector of the words of a text and of their character n-grams, for an installation without a model.
 * It finds similar spelling, including typing errors, but not similar meaning.
 */
export function lexicalVector(text: string): Float32Array {
  const vector = new Float32Array(DIMENSIONS)
  for (const [word, count] of wordsOf(text)) {
    // Repeated words count less each time.
    const weight = 1 + Math.log(count)
    const places = placesOf(word)
    add(vector, places[0] as number, weight)
    const share = (weight * GRAMS_WEIGHT) / Math.sqrt(places.length)
    for (let i = 1; i < places.length; i++) add(vector, places[i] as number, share)
  }
  return normalized(vector)
}

export function normalized(vector: Float32Array): Float32Array {
  let sum = 0
  for (const value of vector) sum += value * value
  if (sum > 0) {
    const scale = 1 / Math.sqrt(sum)
    for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] as number) * scale
  }
  return vector
}

function wordsOf(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  const plain = text.toLowerCase()
  for (const [word] of plain.matchAll(/[\p{L}\p{N}]+/gu)) {
    if (word.length < 2 || isStopWord(word)) continue
    counts.set(word, (counts.get(word) ?? 0) + 1)
  }
  return counts
}

function add(vector: Float32Array, place: number, weight: number): void {
  const index = place >> 1
  vector[index] = (vector[index] as number) + (place & 1 ? weight : -weight)
}

/**
 * The dimension and sign of the word and of each n-gram, encoded as twice the dimension plus the sign.
 * Cached, because words repeat and splitting them is most of the work.
 */
const placesOf = memoize((word) => {
  const bare = word.normalize('NFKD').replace(/\p{M}/gu, '').slice(0, MAX_WORD)
  const places = [place(`=${bare}`)]
  const framed = `<${bare}>`
  for (let size = SHORTEST; size <= LONGEST; size++) {
    for (let at = 0; at + size <= framed.length; at++)
      places.push(place(framed.slice(at, at + size)))
  }
  return Uint16Array.from(places)
}, MAX_KEPT)

/** FNV-1a with a final mix, because its low bits alone are not random enough. */
function place(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  }
  hash ^= hash >>> 15
  hash = Math.imul(hash, 0x2c1b3c6d)
  hash ^= hash >>> 12
  return (hash >>> 0) % (DIMENSIONS * 2)
}
