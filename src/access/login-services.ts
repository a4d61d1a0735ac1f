/** What Dovecot reports about; what it calls otherwise is `other`. */
export const MAIL_SERVICES = ['smtp', 'imap', 'pop3', 'sieve', 'lmtp', 'doveadm', 'other'] as const
export type MailService = (typeof MAIL_SERVICES)[number]
