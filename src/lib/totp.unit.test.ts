import { expect, it } from 'vitest'
import { matchingStep, otpauthUri, totpCode, totpSecret } from './totp.ts'

/** The secret of the test vectors in RFC 6238, appendix B: "12345678901234567890". */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'
const NOW = new Date('2026-11-16T10:00:15Z')
const STEP = Math.floor(NOW.getTime() / 30_000)

it.each([
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_234_567_890, '005924'],
  [20_000_000_000, '353130'],
])('computes the code of RFC 6238 for second %i', (seconds, code) => {
  expect(totpCode(SECRET, Math.floor(seconds / 30))).toBe(code)
})

it('accepts the codes of the current step and of its neighbours only', () => {
  const drifts = [-2, -1, 0, 1, 2].filter(
    (drift) => matchingStep(SECRET, totpCode(SECRET, STEP + drift), NOW, 0) === STEP + drift,
  )
  expect(drifts).toEqual([-1, 0, 1])
})

it('refuses a code that was used, and older ones', () => {
  expect(matchingStep(SECRET, totpCode(SECRET, STEP), NOW, STEP)).toBeUndefined()
  expect(matchingStep(SECRET, totpCode(SECRET, STEP - 1), NOW, STEP)).toBeUndefined()
  expect(matchingStep(SECRET, totpCode(SECRET, STEP + 1), NOW, STEP)).toBe(STEP + 1)
})

it.each(['', '1', '1234567', 'abcdef', ' 287082', '２８７０８２'])(
  'rejects the TOTP code %j',
  (code) => {
    expect(matchingStep(SECRET, code, new Date(59_000), 0)).toBeUndefined()
  },
)

it('creates a different secret of 160 bits each time', () => {
  const [one, other] = [totpSecret(), totpSecret()]
  expect(one).toMatch(/^[A-Z2-7]{32}$/)
  expect(other).not.toBe(one)
})

it('writes a URI with escaped names', () => {
  const uri = otpauthUri('Mail & plane', 'root+x@ops.example', SECRET)
  const { protocol, host, pathname, searchParams } = new URL(uri)
  expect([protocol, host]).toEqual(['otpauth:', 'totp'])
  expect(pathname).toBe('/Mail%20%26%20plane:root%2Bx%40ops.example')
  expect(uri).not.toContain('+')
  expect(Object.fromEntries(searchParams)).toEqual({
    secret: SECRET,
    issuer: 'Mail & plane',
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
})
