import { databaseUrl } from './database-url.ts'
import * as env from './env.ts'

/** STARTTLS when the server offers it. */
const OPPORTUNISTIC = 'opportunistic'

/** Mail that passes through, mail that the installation sends, and the edge that is rendered. */
export const mailVariables = {
  IMAP_TLS_VERIFY: env.flag('Verify the IMAP certificate, except on loopback', true),
  IMAP_AUTH_TIMEOUT: env.integer('Seconds that a login check may take', 10, { min: 1, max: 120 }),

  SIEVE_TLS_VERIFY: env.flag('Verify the ManageSieve certificate', false),
  SIEVE_TIMEOUT: env.integer('Seconds per ManageSieve command', 15, { min: 1, max: 120 }),
  SIEVE_PROBE_TTL: env.integer('Seconds that a probe of the filter service is valid', 60, {
    min: 1,
    max: 86400,
  }),
  SIEVE_PROBE_TIMEOUT: env.integer('Seconds that a probe may take', 3, { min: 1, max: 60 }),
  SIEVE_PROBE_ACCOUNT: env.text('Mailbox that the probe opens with the master login'),

  POSTFIX_LOG_FILE: env.text('Older name of MAIL_LOG_FILE, which wins when both are set'),
  MAIL_LOG_NAME: env.text('Name of the machine that writes the log; unset: its host name'),
  MAIL_LOG_RETENTION_DAYS: env.integer('Days to keep the mail log; 0: for ever', 90, {
    max: 36_500,
  }),
  MAIL_LOG_CLICKHOUSE_URL: env.url(
    'ClickHouse for past days of the mail log, http://USER:PASSWORD@HOST:PORT/DATABASE; unset: none',
  ),
  MAIL_LOG_CLICKHOUSE_AFTER_DAYS: env.integer(
    'Days after which a day of the mail log moves to MAIL_LOG_CLICKHOUSE_URL',
    7,
    // Postfix tries for 5 days, and each attempt changes the row of the one before.
    { min: 6, max: 36_500 },
  ),
  MAIL_LOG_INTERNAL_RELAYS: env.words('Relays that are filters and hand mail back to Postfix', [
    'tracking-filter',
    'webhook-filter',
  ]),
  CONTENT_FILTER_HOST: env.text('Listening IP address of the content filter', '127.0.0.1'),
  CONTENT_FILTER_WORKERS: env.integer('Messages that the content filter processes at once', 20, {
    min: 1,
    max: 500,
  }),
  SPAM_QUARANTINE_SCORE: env.integer('Score from which mail is quarantined; 0: never', 10, {
    max: 10_000,
  }),
  DELETED_MAIL_DAYS: env.integer('Days to keep the mail of a deleted mailbox', 30, { max: 36_500 }),
  AUTO_SUSPEND_ENABLED: env.flag('Suspend SMTP credentials most of whose mail fails', false),

  SMTP_HOST: env.text('Server for mail of the installation itself; unset: the edge'),
  SMTP_PORT: env.port('Port of SMTP_HOST', 25),
  SMTP_TLS: env.choice(
    'TLS mode of SMTP_HOST; with a login, opportunistic is starttls',
    OPPORTUNISTIC,
    [OPPORTUNISTIC, 'starttls', 'true', 'false'],
  ),
  SMTP_TLS_VERIFY: env.flag('Verify the certificate of SMTP_HOST where TLS is required', true),
  SMTP_USER: env.text('Login at SMTP_HOST; unset: no login'),
  SMTP_PASSWORD: env.text('Password of SMTP_USER'),
  SMTP_PASSWORD_FILE: env.text('File with the password of SMTP_USER, read for each mail'),
  ALERT_FROM_ADDRESS: env.text('Sender of that mail; unset: ADMIN_EMAIL'),
  ADMIN_EMAIL: env.text('E-mail address of the operator of the installation'),
} as const

/** Settings that the rendered configuration of the mail servers is written from. */
export const edgeVariables = {
  EDGE_DATABASE_URL: databaseUrl(
    'PostgreSQL as the mail servers reach it; unset: as this process does',
  ),
  EDGE_PRIVATE_ADDRESS: env.text('IP address for traffic between the mail servers', '127.0.0.1'),
  EDGE_TRUSTED_NETWORKS: env.networks('Networks of the control plane, as Dovecot sees it'),
  EDGE_TLS_CERT: env.text('Certificate of the mail servers', '/etc/mailplane/tls/cert.pem'),
  EDGE_TLS_KEY: env.text('Key of EDGE_TLS_CERT', '/etc/mailplane/tls/key.pem'),
  EDGE_MAIL_DIR: env.text('Folder of the mailboxes', '/var/vmail'),
  EDGE_RELAY_HOST: env.text('Relay for all outgoing mail, as [host]:port'),
  EDGE_AUTOMATIC_HOST: env.text(
    'Destination of redirects and replies of a backend, as host:port of the private listener 10588',
  ),
  MAIL_MOVE_KEEP_HOURS: env.integer(
    'Hours that the old copy of a moved mailbox stays on the host that it left',
    24,
    { min: 0, max: 8760 },
  ),
  EDGE_POLICY_HOST: env.text('Host of the policy services and the content filter', '127.0.0.1'),
  EDGE_RATE_POLICY_PORT: env.port('Port of the rate limit policy; 0: not asked', undefined, {
    min: 0,
  }),
  EDGE_ACCESS_POLICY_PORT: env.port('Port of the access policy; 0: not asked', undefined, {
    min: 0,
  }),
  EDGE_AUTH_POLICY_PORT: env.port('Port of the login policy; 0: not asked', undefined, { min: 0 }),
  EDGE_CONTENT_FILTER_PORT: env.port('Port of the content filter; 0: none', undefined, { min: 0 }),
  EDGE_ANTIVIRUS: env.flag('Scan mail for viruses with ClamAV', true),
  EDGE_ANTIVIRUS_DATABASE: env.text('Folder of the signatures of ClamAV'),
  EDGE_ANTIVIRUS_FAIL_OPEN: env.flag('Accept mail while ClamAV is down', true),
  EDGE_POLICY_FAIL_OPEN: env.flag('Accept mail while the policy services are down', true),
} as const
