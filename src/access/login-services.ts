/** The services that Dovecot reports; unknown names become `other`. */
export const MAIL_SERVICES = ['smtp', 'imap', 'pop3', 'sieve', 'lmtp', 'doveadm', 'other'] as const
/** Rows of `failed_auth_attempts` that block a mail account over all IP addresses. */
export const MAIL_ACCOUNT = 'mail_account'
export type MailService = (typeof MAIL_SERVICES)[number]
