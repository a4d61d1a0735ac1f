import { isCommonPassword } from './common-passwords.ts'

const MAX_CHARACTERS = 1024

/** Returns why a new password is refused, in the words clients compare, or undefined. */
export function passwordProblem(password: string): string | undefined {
  if (password.length < 12) return 'Password must be at least 12 characters long'
  if (password.length > MAX_CHARACTERS) return 'Password must be at most 1024 characters long'
  // Mail servers reject a login whose password has control characters.
  if (/\p{Cc}/u.test(password)) return 'Password must not contain control characters'
  if (!/[A-Za-z]/.test(password)) return 'Password must contain letters'
  if (!/[0-9]/.test(password)) return 'Password must contain numbers'
  if (isCommonPassword(password)) {
    return 'Password is too common; choose something less predictable'
  }
  return undefined
}
