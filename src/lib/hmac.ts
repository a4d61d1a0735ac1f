import { type BinaryToTextEncoding, hash } from 'node:crypto'

const BLOCK_BYTES = 64
const DIGEST_BYTES = 32
// Used again by every call: none of them waits for anything in between.
const kept = Buffer.alloc(16 * 1024)

/**
 * HMAC-SHA-256 (RFC 2104) under one key. An `Hmac` of Node is an object in two worlds, and making one
 * costs three times as much as hashing a kilobyte; two plain hashes need none.
 */
export function hmacSha256(key: Uint8Array) {
  const short = key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key
  const padded = (pad: number) =>
    Uint8Array.from({ length: BLOCK_BYTES }, (_, index) => pad ^ (short[index] ?? 0))
  const inner = padded(0x36)
  const outer = Buffer.concat([padded(0x5c), Buffer.alloc(DIGEST_BYTES)])

  return (text: string, encoding: BinaryToTextEncoding): string => {
    // No character takes more than three bytes.
    const most = BLOCK_BYTES + text.length * 3
    const message = most > kept.length ? Buffer.allocUnsafe(most) : kept
    message.set(inner)
    const bytes = BLOCK_BYTES + message.write(text, BLOCK_BYTES)
    outer.write(hash('sha256', message.subarray(0, bytes), 'binary'), BLOCK_BYTES, 'latin1')
    return hash('sha256', outer, encoding)
  }
}
