import * as env from './env.ts'

/** Addresses of Dovecot, Postfix and Rspamd. A private edge provides these when they are unset. */
export const mailServerVariables = {
  IMAP_HOST: env.text('Mail server that mailbox logins are verified against'),
  IMAP_PORT: env.port('Port of IMAP_HOST', 993),
  IMAP_TLS: env.choice('TLS mode of the IMAP connection', 'true', ['true', 'starttls', 'false']),
  IMAP_MASTER_USER: env.text('Master login for mailbox filters'),
  IMAP_MASTER_PASSWORD: env.text('Password of IMAP_MASTER_USER'),
  SIEVE_HOST: env.text('ManageSieve server; unset: IMAP_HOST, then dovecot'),
  SIEVE_PORT: env.port('Port of SIEVE_HOST', 4190),
  DOVEADM_URL: env.url("Dovecot's HTTP administration interface"),
  DOVEADM_API_KEY: env.text('Key of DOVEADM_URL'),
  POSTFIX_CONFIG_DIR: env.text('Folder of main.cf of the Postfix whose queue is shown'),
  MAIL_LOG_FILE: env.text('Postfix log that is followed; unset: none'),
  DOVECOT_LOG_FILE: env.text('Dovecot log that operators read; unset: none'),
  RSPAMD_LOG_FILE: env.text('Rspamd log that operators read; unset: none'),
  MAIL_REINJECT_HOST: env.text('Postfix host that accepts released messages'),
  MAIL_REINJECT_PORT: env.port('Port of MAIL_REINJECT_HOST for released messages', 10026),
  MAIL_FILTERED_PORT: env.port(
    'Port of MAIL_REINJECT_HOST that signs outgoing mail of the content filter',
    10027,
  ),
  MAIL_SERVICE_PORT: env.port(
    'Port of MAIL_REINJECT_HOST for mail that services of the installation send',
    10587,
  ),
  CONTENT_FILTER_PORT: env.port('Port of the content filter (10025)', undefined, { min: 0 }),
  POLICY_RATE_PORT: env.port('Port of the rate limit policy (10031)', undefined, { min: 0 }),
  POLICY_ACCESS_PORT: env.port('Port of the access policy (10032)', undefined, { min: 0 }),
  AUTH_POLICY_PORT: env.port("Port of Dovecot's auth policy (10033)", undefined, { min: 0 }),
  RSPAMD_URL: env.url('Rspamd worker that scans inbound mail'),
  EDGE_DKIM_DIR: env.text('Folder of the DKIM signing keys', '/var/lib/mailplane/dkim'),
  EDGE_SNI_DIR: env.text(
    'Folder of the certificates that the mail servers present by name',
    '/var/lib/mailplane/sni',
  ),
  MONITOR_SMTP_HOST: env.text('Postfix host that is probed; unset: MAIL_REINJECT_HOST'),
  MONITOR_SMTP_PORT: env.port('Port of MONITOR_SMTP_HOST', 25),
  MONITOR_RSPAMD_URL: env.url('Rspamd controller that is pinged'),
  MONITOR_CLAMD: env.text(
    'Virus scanner (clamd) that is pinged: host:port or the path of its socket',
  ),
} as const

export type MailServerSettings = Readonly<
  ReturnType<typeof env.readVariables<typeof mailServerVariables>>
>
type Name = keyof MailServerSettings

/** A port, a key or a password of the edge does not apply when the operator set this server. */
const SERVER_OF: Partial<Record<Name, Name>> = {
  IMAP_PORT: 'IMAP_HOST',
  IMAP_TLS: 'IMAP_HOST',
  IMAP_MASTER_USER: 'IMAP_HOST',
  IMAP_MASTER_PASSWORD: 'IMAP_HOST',
  SIEVE_HOST: 'IMAP_HOST',
  SIEVE_PORT: 'SIEVE_HOST',
  DOVEADM_API_KEY: 'DOVEADM_URL',
  MAIL_REINJECT_PORT: 'MAIL_REINJECT_HOST',
  MAIL_FILTERED_PORT: 'MAIL_REINJECT_HOST',
  MAIL_SERVICE_PORT: 'MAIL_REINJECT_HOST',
  MONITOR_SMTP_PORT: 'MONITOR_SMTP_HOST',
}

/**
 * Reads the variables that are set; the others may come from a private edge.
 * `logFile` is the log under its older name.
 */
export function readMailServers(
  environment: NodeJS.ProcessEnv,
  logFile?: string,
): Partial<MailServerSettings> {
  const values = env.readVariables(mailServerVariables, environment)
  const set = Object.entries(values).filter(([name]) => environment[name]?.trim())
  return { ...(logFile && { MAIL_LOG_FILE: logFile }), ...Object.fromEntries(set) }
}

/** Combines settings of the operator, of a private edge, and the defaults, in this order. */
export function resolveMailServers(
  configured: Partial<MailServerSettings>,
  edge: Readonly<Record<string, string>> = {},
): MailServerSettings {
  const entries = Object.entries(mailServerVariables).map(([key, { fallback, parse }]) => {
    const name = key as Name
    const server = SERVER_OF[name]
    const isForeign = server !== undefined && configured[server] !== undefined
    const text = isForeign ? undefined : edge[name]
    // Port 0 leaves the choice of a port open; the mail servers of a private edge have made it.
    const chosen = configured[name] || undefined
    return [name, chosen ?? (text ? parse(text) : undefined) ?? configured[name] ?? fallback]
  })
  return Object.fromEntries(entries)
}
