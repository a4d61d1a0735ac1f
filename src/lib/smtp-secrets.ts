import { randomBytes } from 'node:crypto'
import { passwordProblem } from './passwords.ts'

const RANDOM_BYTES = 30
const PREFIX_CHARACTERS = 8
// bcrypt ignores further bytes: two longer secrets with the same beginning would be equal.
const MAX_BYTES = 72

export function newSmtpSecret(): { secret: string; prefix: string } {
  const secret = randomBytes(RANDOM_BYTES).toString('base64url')
  return { secret, prefix: secret.slice(0, PREFIX_CHARACTERS) }
}

/** Returns why a chosen secret is refused, or undefined. */
export function smtpSecretProblem(secret: string): string | undefined {
  const problem = passwordProblem(secret)
  if (problem !== undefined) return problem
  if (Buffer.byteLength(secret) > MAX_BYTES) {
    return `Password must be at most ${MAX_BYTES} bytes long`
  }
  // SASL PLAIN ends at a NUL, and clients do not agree on the others.
  if (/\p{Cc}/u.test(secret)) return 'Password must not contain control characters'
  return undefined
}
