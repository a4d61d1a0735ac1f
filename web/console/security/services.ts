/** The services that people sign in to, by their names in the API. */
export const SERVICES = [
  'smtp',
  'imap',
  'pop3',
  'sieve',
  'webmail',
  'api',
  'api_key',
  'api_mfa',
  'operator',
  'operator_mfa',
  'password_reset',
  'mail_account',
].map((name) => [name, name] as const)
