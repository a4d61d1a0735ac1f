import type { Config } from '../config/index.ts'

/** The ports of the mail edge for mail programs, see docs/mail-edge.md. Encrypted ones only. */
export const CLIENT_SERVERS = [
  { protocol: 'imap', port: 993, encryption: 'tls' },
  { protocol: 'pop3', port: 995, encryption: 'tls' },
  // RFC 8314 prefers TLS from the start to STARTTLS.
  { protocol: 'smtp', port: 465, encryption: 'tls' },
  { protocol: 'smtp', port: 587, encryption: 'starttls' },
] as const

/** The host that answers HTTPS for the names under hosted domains. */
export const webHost = ({
  SVC_PUBLIC_URL,
  SVC_MAIL_HOSTNAME,
}: Pick<Config, 'SVC_PUBLIC_URL' | 'SVC_MAIL_HOSTNAME'>): string =>
  SVC_PUBLIC_URL === undefined ? SVC_MAIL_HOSTNAME : new URL(SVC_PUBLIC_URL).hostname
