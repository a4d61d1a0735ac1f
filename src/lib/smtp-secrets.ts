import { randomBytes } from 'node:crypto'
import { hash } from 'bcrypt'
import { hashingTurn } from './hashing.ts'
import { passwordProblem } from './passwords.ts'

const COST = 10
const RANDOM_BYTES = 30
const PREFIX_CHARACTERS = 8
// bcrypt reads no further: two longer passwords that begin alike would be the same.
const MAX_BYTES = 72

export function newSmtpSecret(): { secret: string; prefix: string } {
  const secret = randomBytes(RANDOM_BYTES).toString('base64url')
  return { secret, prefix: secret.slice(0, PREFIX_CHARACTERS) }
}

/** bcrypt, because the mail server verifies it; on a thread of its own. */
export const hashSmtpSecret = (secret: string): Promise<string> =>
  hashingTurn(() => hash(secret, COST))

/** What is wrong with a secret that somebody chose; undefined when it will do. */
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
