import { encode } from 'uqr'
import { describe, expect, it } from 'vitest'
import { qrModules } from './qr.ts'

const textOf = (length: number) => 'otpauth://totp/'.slice(0, length).padEnd(length, 'aZ9-')

describe('QR codes', () => {
  it.each([1, 17, 18, 78, 134, 154, 192, 230, 231, 271, 367, 520, 1200, 2953])(
    'of %i bytes are those of another encoder',
    (length) => {
      const text = textOf(length)
      for (const mask of length < 300 ? [0, 1, 2, 3, 4, 5, 6, 7] : [length % 8]) {
        const options = { ecc: 'L', boostEcc: false, maskPattern: mask, border: 0 } as const
        expect(qrModules(text, mask)).toEqual(encode(text, options).data)
      }
    },
  )

  it('have one of the eight masks, and an end', () => {
    const text = textOf(120)
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map((mask) => qrModules(text, mask))
    expect(all).toContainEqual(qrModules(text))
    expect(() => qrModules(textOf(2954))).toThrow('too long')
  })
})
