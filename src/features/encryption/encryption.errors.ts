import { defineError } from '../../errors.ts'

export const KeyNotFound = defineError({ status: 404, message: 'Key not found' })
export const CertificateNotFound = defineError({ status: 404, message: 'Certificate not found' })
export const KeyJobNotFound = defineError({ status: 404, message: 'Key job not found' })

export const MailboxNotFound = defineError<string>({
  status: 404,
  message: (email) => `Mailbox ${email} not found`,
})

/** The message says what is wrong with the key or the text. */
export const Refused = defineError<string>({ status: 400, message: (text) => text })

export const NoKeyFor = defineError<string>({
  status: 404,
  code: 'NO_KEY',
  message: (email) => `There is no usable key of ${email}`,
})

export const WrongPassphrase = defineError({
  status: 400,
  code: 'WRONG_PASSPHRASE',
  message: 'The passphrase does not open the private key',
})

export const KeysFull = defineError<{ limit: number }>({
  status: 409,
  code: 'KEYS_FULL',
  message: ({ limit }) => `An address has at most ${limit} keys; delete one first`,
  data: ({ limit }) => ({ limit }),
})

export const KeyUnusable = defineError({
  status: 409,
  code: 'KEY_UNUSABLE',
  message: 'The key is revoked or expired, or it cannot encrypt',
})

export const OrganizationRequired = defineError({
  status: 400,
  message: 'organization_id is required: say whose key it is',
})

export const TooManyKeyJobs = defineError<{ limit: number }>({
  status: 409,
  code: 'TOO_MANY_KEY_JOBS',
  message: ({ limit }) => `An organization makes at most ${limit} large keys at once`,
  data: ({ limit }) => ({ limit }),
})

export const NoUsableKey = defineError({
  status: 409,
  code: 'NO_USABLE_KEY',
  message: 'Make or import a key that can encrypt first',
})

export const KeyInUse = defineError({
  status: 409,
  code: 'KEY_IN_USE',
  message:
    'Mail of the mailbox is encrypted to this key: turn that off, or prefer another key, first',
})
