import { Unprocessable } from '../../errors.ts'
import { EMAIL_PATTERN } from '../../lib/email.ts'

const EMAIL = new RegExp(EMAIL_PATTERN)

/** The address of a path as it is stored; people of other hosts have one too. */
export function userEmail(sent: string): string {
  const address = sent.trim().toLowerCase()
  if (address.length > 254 || !EMAIL.test(address)) {
    throw new Unprocessable('user_email must be an email address')
  }
  return address
}
