import { createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { hmacSha256 } from './hmac.ts'

const TEXTS = [
  '',
  'a',
  'post@example.com',
  'Grüße aus Łódź 東京 🦆',
  'a lone \ud800 surrogate',
  'x'.repeat(16 * 1024 - 64),
  'x'.repeat(100_000),
  '東'.repeat(20_000),
]

describe('an HMAC of our own', () => {
  it.each([0, 1, 32, 63, 64, 65, 200])('is that of Node with a key of %i bytes', (bytes) => {
    const key = randomBytes(bytes)
    const ours = hmacSha256(key)
    for (const text of TEXTS) {
      expect(ours(text, 'hex')).toBe(createHmac('sha256', key).update(text).digest('hex'))
      expect(ours(text, 'base64')).toBe(createHmac('sha256', key).update(text).digest('base64'))
    }
  })

  it('keeps keys apart, and nothing of a longer text in a shorter one', () => {
    const [one, other] = [hmacSha256(Buffer.from('one')), hmacSha256(Buffer.from('other'))]
    const first = one('short', 'hex')
    other('x'.repeat(5000), 'hex')
    expect(one('short', 'hex')).toBe(first)
    expect(other('short', 'hex')).not.toBe(first)
  })
})
