import { Unprocessable } from '../../errors.ts'
import { EMAIL_PATTERN } from '../../lib/email.ts'

const EMAIL = new RegExp(EMAIL_PATTERN)

/** Normalizes the address of a path. Addresses of other hosts are valid too. */
export function userEmail(sent: string): string {
  const address = sent.trim().toLowerCase()
  if (address.length > 254 || !EMAIL.test(address)) {
    throw new Unprocessable('user_email must be an email address')
  }
  return address
}
