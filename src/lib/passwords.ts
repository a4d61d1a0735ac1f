import { hash, verify } from '@node-rs/argon2'
import { isCommonPassword } from './common-passwords.ts'
import { hashingTurn } from './hashing.ts'

const ARGON2ID = 2
const COST = { algorithm: ARGON2ID, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const MAX_CHARACTERS = 1024

export const hashPassword = (password: string): Promise<string> =>
  hashingTurn(() => hash(password, COST))

// Verified against when there is no account, so that an unknown address costs the same time.
const nobodysHash = hashPassword('the password of an account that does not exist')

export async function passwordMatches(
  password: string,
  storedHash: string | undefined,
): Promise<boolean> {
  const stored = storedHash ?? (await nobodysHash)
  const matches = await hashingTurn(() => verify(stored, password))
  return matches && storedHash !== undefined
}

/** What is wrong with a new password, in the words clients compare; undefined when it will do. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < 12) return 'Password must be at least 12 characters long'
  if (password.length > MAX_CHARACTERS) return 'Password must be at most 1024 characters long'
  // Mail servers take no login with them, so nobody could sign in.
  if (/\p{Cc}/u.test(password)) return 'Password must not contain control characters'
  if (!/[A-Za-z]/.test(password)) return 'Password must contain letters'
  if (!/[0-9]/.test(password)) return 'Password must contain numbers'
  if (isCommonPassword(password)) {
    return 'Password is too common; choose something less predictable'
  }
  return undefined
}
