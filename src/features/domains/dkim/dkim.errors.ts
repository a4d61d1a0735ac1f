import { defineError } from '../../../errors.ts'

export const DkimKeyNotFound = defineError<string>({
  status: 404,
  message: (selector) => `No DKIM key with selector '${selector}' on this domain`,
})
export const DkimNotVisible = defineError<string>({
  status: 409,
  code: 'DKIM_RECORD_NOT_VISIBLE',
  message: (name) =>
    `The DKIM record ${name} is not visible in DNS yet; publish it first, or pass force: true`,
})
/** The answer to tenants, who cannot force. */
export const DkimNotPublished = defineError<string>({
  status: 409,
  code: 'DKIM_RECORD_NOT_VISIBLE',
  message: (name) =>
    `The DKIM record ${name} is not visible in DNS yet; publish it, wait until DNS shows it, and try again`,
})
export const TooManyDkimKeys = defineError<number>({
  status: 409,
  code: 'DKIM_TOO_MANY_KEYS',
  message: (count) =>
    `This domain has ${count} DKIM keys that were never activated; activate or delete one of them first`,
})
export const DkimKeyInUse = defineError<string>({
  status: 409,
  code: 'DKIM_KEY_IN_USE',
  message: (selector) =>
    `Mail was signed with the key '${selector}'; only a key that was never activated can be deleted`,
})
