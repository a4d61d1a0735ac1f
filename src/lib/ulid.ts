import { randomFillSync } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const pool = Buffer.alloc(4096)
let used = pool.length

/** A ULID: 48 bits of time, 80 random bits, in Crockford's base 32. Sorts by creation time. */
export function ulid(time = Date.now()): string {
  if (used + 16 > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  let id = encodeTime(time)
  for (let i = 0; i < 16; i++) id += ALPHABET[(pool[used++] as number) & 31]
  return id
}

let lastTime = -1
let lastEncoded = ''

function encodeTime(time: number): string {
  if (time === lastTime) return lastEncoded
  let encoded = ''
  for (let rest = time, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    encoded = ALPHABET[rest % 32] + encoded
  }
  lastTime = time
  lastEncoded = encoded
  return encoded
}

/**
 * Creates request ids in the form of a ULID, unique across processes. Only the prefix is random: the
 * ids are not secret, and a counter is cheaper than random bytes for every request.
 */
export function sequentialIds(prefix: string): () => string {
  const stem = prefix + ulid().slice(0, 18)
  let counter = 0
  return () => {
    let tail = ''
    for (let rest = counter, i = 0; i < 8; i++, rest = Math.floor(rest / 32)) {
      tail = ALPHABET[rest % 32] + tail
    }
    counter++
    return stem + tail
  }
}
