import { describe, expect, it } from 'vitest'
import { vault } from './vault.ts'

const KEY = 'a root key of thirty-two characters or more'
const mine = vault(KEY)

describe('fingerprint', () => {
  it('is equal for equal values, purposes and root keys only', () => {
    const print = mine.fingerprint('request', 'body')
    expect(print).toMatch(/^[0-9a-f]{64}$/)
    expect(vault(KEY).fingerprint('request', Buffer.from('body'))).toBe(print)
    expect(mine.fingerprint('request', 'Body')).not.toBe(print)
    expect(mine.fingerprint('other', 'body')).not.toBe(print)
    expect(vault(`${KEY}!`).fingerprint('request', 'body')).not.toBe(print)
  })
})

describe('a sealed value', () => {
  const sealed = mine.seal('totp', 'JBSWY3DPEHPK3PXP')

  it('does not open after any of its bytes was changed', () => {
    for (let index = 0; index < sealed.length; index++) {
      const forged = Buffer.from(sealed)
      forged[index] = (forged[index] as number) ^ 1
      expect(() => mine.open('totp', forged), `byte ${index}`).toThrow()
    }
  })

  it('does not open when it was cut short, tag included, or made longer', () => {
    for (const whole of [sealed, mine.seal('totp', '')]) {
      for (let length = 0; length < whole.length; length++) {
        expect(() => mine.open('totp', whole.subarray(0, length)), `${length} bytes`).toThrow()
      }
    }
    expect(() => mine.open('totp', Buffer.concat([sealed, Buffer.of(0)]))).toThrow()
  })

  it('does not open for another purpose, nor with another root key', () => {
    expect(() => mine.open('private key', sealed)).toThrow()
    expect(() => vault(`${KEY}!`).open('totp', sealed)).toThrow()
  })

  it('opens in another process with the same root key', () => {
    expect(vault(KEY).open('totp', sealed)).toBe('JBSWY3DPEHPK3PXP')
  })

  it('opens to the original text, and is different each time', () => {
    for (const text of ['', 'ünïcödé 🦄', 'x'.repeat(100_000), '\0']) {
      expect(mine.open('body', mine.seal('body', text))).toBe(text)
    }
    expect(mine.seal('body', 'same').equals(mine.seal('body', 'same'))).toBe(false)
    expect(mine.seal('body', 'plain text').toString('latin1')).not.toContain('plain')
  })
})
