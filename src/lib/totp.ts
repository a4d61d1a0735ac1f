import { createHmac, randomBytes } from 'node:crypto'

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_SECONDS = 30
const DIGITS = 6

/** 160 random bits, the length RFC 4226 §4 recommends: 32 characters of base 32. */
export function totpSecret(): string {
  let bits = ''
  for (const byte of randomBytes(20)) bits += byte.toString(2).padStart(8, '0')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}

/** RFC 6238 with SHA-1, as every authenticator application expects. */
export function totpCode(secret: string, step: number): string {
  const message = Buffer.alloc(8)
  message.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', fromBase32(secret)).update(message).digest()
  const offset = (digest[19] as number) & 15
  const code = (digest.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS
  return String(code).padStart(DIGITS, '0')
}

/**
 * The time step whose code this is, one step of clock drift allowed either way. Steps up to
 * `lastStep` are spent: a code works once (RFC 6238 §5.2).
 */
export function matchingStep(
  secret: string,
  code: string,
  now: Date,
  lastStep: number,
): number | undefined {
  const current = Math.floor(now.getTime() / 1000 / STEP_SECONDS)
  let match: number | undefined
  for (const step of [current - 1, current, current + 1]) {
    if (step > lastStep && totpCode(secret, step) === code) match = step
  }
  return match
}

export function otpauthUri(issuer: string, account: string, secret: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const query = new URLSearchParams({
    secret,
    issuer,
    algorithm: 'SHA1',
    digits: String(DIGITS),
    period: String(STEP_SECONDS),
  })
  return `otpauth://totp/${label}?${query.toString().replaceAll('+', '%20')}`
}

function fromBase32(text: string): Buffer {
  let bits = ''
  for (const character of text) bits += BASE32.indexOf(character).toString(2).padStart(5, '0')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
