/** The rights that a holder can grant to a program. */
export const MAIL_SCOPES = ['imap', 'pop', 'smtp', 'sieve', 'dav', 'jmap'] as const
export type MailScope = (typeof MAIL_SCOPES)[number]

/** The identity of the holder, and access while the holder is away. */
export const IDENTITY_SCOPES = ['openid', 'email', 'offline_access'] as const

export const HOLDER_SCOPES = [...IDENTITY_SCOPES, ...MAIL_SCOPES] as const

export const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'device_code',
  'client_credentials',
] as const
export type GrantType = (typeof GRANT_TYPES)[number]

export const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code'
