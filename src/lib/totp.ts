import { Secret, TOTP } from 'otpauth'

const PERIOD_SECONDS = 30
/** 160 bits, the length that RFC 4226 §4 recommends. */
const SECRET_BYTES = 20

/** SHA-1 and six digits: authenticator applications expect these. */
const totp = (secret: string, names: { issuer?: string; label?: string } = {}) =>
  new TOTP({ ...names, secret, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS })

/** A new secret in base 32. */
export const totpSecret = (): string => new Secret({ size: SECRET_BYTES }).base32

export const totpCode = (secret: string, step: number): string =>
  totp(secret).generate({ timestamp: step * PERIOD_SECONDS * 1000 })

/**
 * Returns the time step that the code belongs to, with one step of clock drift either way. A code
 * of a step up to `lastStep` was used already and is refused (RFC 6238 §5.2).
 */
export function matchingStep(
  secret: string,
  code: string,
  now: Date,
  lastStep: number,
): number | undefined {
  // otpauth throws on six characters that take more than six bytes.
  if (!/^\d{6}$/.test(code)) return undefined
  const timestamp = now.getTime()
  const drift = totp(secret).validate({ token: code, timestamp, window: 1 })
  if (drift === null) return undefined
  const step = TOTP.counter({ period: PERIOD_SECONDS, timestamp }) + drift
  return step > lastStep ? step : undefined
}

/** The URI that authenticator applications read from a QR code. */
export const otpauthUri = (issuer: string, account: string, secret: string): string =>
  totp(secret, { issuer, label: account }).toString()
