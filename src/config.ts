import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { certificateVariables } from './config.certificates.ts'
import { policyVariables, rateLimitVariables } from './config.rate-limits.ts'
import { reputationVariables } from './config.reputation.ts'
import { trackingVariables } from './config.tracking.ts'
import { edgeEnvironment } from './edge/environment.ts'
import * as env from './lib/env.ts'

/** Where everything listens unless it is told otherwise. */
export const DEVELOPMENT_PORT = 5000

/** Every environment variable, once. */
export const variables = {
  PORT: env.integer(
    'Listening port (default 5000, or the own port of a single service)',
    undefined,
    {
      max: 65535,
    },
  ),
  HOST: env.text('Listening address', '127.0.0.1'),
  DATA_DIR: env.text('Embedded database, bootstrap tokens, key files, logs, spool', './data'),
  DATABASE_URL: env.url('External PostgreSQL; unset: an embedded one under DATA_DIR', [
    'postgres:',
    'postgresql:',
  ]),
  DATABASE_POOL: env.integer('Connections to PostgreSQL per process', 10, { min: 2, max: 500 }),
  REDIS_URL: env.url('Shared counters and pub/sub when more than one process runs', [
    'redis:',
    'rediss:',
  ]),

  SVC_SERVICES: env.text('Services this process runs, as a comma list', 'all'),
  SVC_EDITION: env.choice('Which surfaces are offered', 'enterprise', ['enterprise', 'community']),
  SVC_COOKIE_SECURE: env.flag('Set the Secure flag on cookies', true),
  SVC_SECRET_KEY: env.text(
    'Root key of everything encrypted at rest, 32 characters or more',
    undefined,
  ),
  SVC_INTERNAL_TOKEN: env.text('Credential that internal worker routes ask for', undefined),
  SVC_TRUSTED_PROXIES: env.networks('Proxies whose X-Forwarded-For is believed'),
  SVC_OUTBOUND_ALLOW: env.networks('Private networks that tenant-chosen outbound calls may reach'),
  SVC_CORS_ORIGINS: env.list(
    'Web origins that may call the API with credentials',
    'origins such as https://console.example.com',
    (entry) => URL.canParse(entry) && new URL(entry).origin === entry,
  ),
  SVC_PUBLIC_URL: env.url(
    'Address of this service in links; derived from HOST and PORT when unset',
    ['http:', 'https:'],
  ),
  SVC_LOG_LEVEL: env.choice('Least severe level that is logged', 'info', [
    'trace',
    'debug',
    'info',
    'warn',
    'error',
    'fatal',
  ]),
  SVC_LOG_STDOUT: env.flag('Write the structured log to standard output too', false),
  SVC_MFA_ISSUER: env.text('Name that authenticator applications show', 'Mailplane'),
  SVC_MAIL_HOSTNAME: env.text('Host that MX, autoconfig and DNS advice name', 'mail.localhost'),
  SVC_DNS_TIMEOUT: env.integer('Seconds that one domain verification may take', 10, {
    min: 1,
    max: 60,
  }),
  SVC_DNS_SERVERS: env.list('Resolvers for domain verification', 'ip[:port] entries', isNameServer),

  IMAP_HOST: env.text('Mail server that mailbox logins are verified against', undefined),
  IMAP_PORT: env.integer('Its port', 993, { min: 1, max: 65535 }),
  IMAP_TLS: env.choice('How the connection is protected', 'true', ['true', 'starttls', 'false']),
  IMAP_TLS_VERIFY: env.flag('Verify its certificate, except on loopback', true),
  DOVEADM_URL: env.url("Dovecot's HTTP administration interface", ['http:', 'https:']),
  DOVEADM_API_KEY: env.text('Its key', undefined),
  POSTFIX_CONFIG_DIR: env.text('Folder of main.cf of the Postfix whose queue is shown', undefined),

  MAIL_LOG_FILE: env.text('Log of Postfix, which is followed; unset: none is', undefined),
  MAIL_LOG_NAME: env.text('Name of the machine that writes it; unset: its host name', undefined),
  MAIL_LOG_INTERNAL_RELAYS: env.words('Relays that are filters, from which mail comes back', [
    'tracking-filter',
    'webhook-filter',
  ]),
  MAIL_REINJECT_HOST: env.text('Where released messages are handed to Postfix', undefined),
  MAIL_REINJECT_PORT: env.integer('Its port', 10026, { min: 1, max: 65535 }),
  MAIL_FILTERED_PORT: env.integer(
    'Port of the same host that takes outgoing mail from the content filter, and signs it',
    10027,
    { min: 1, max: 65535 },
  ),
  CONTENT_FILTER_HOST: env.text('Address of the content filter for Postfix', '127.0.0.1'),
  CONTENT_FILTER_PORT: env.integer('Port of the content filter (10025)', undefined, {
    max: 65535,
  }),
  CONTENT_FILTER_WORKERS: env.integer('Messages that it works on at once', 20, {
    min: 1,
    max: 500,
  }),
  RSPAMD_URL: env.url('Rspamd, which judges mail from outside', ['http:', 'https:']),
  SPAM_QUARANTINE_SCORE: env.integer('Score from which mail is held back; 0: none is', 10, {
    max: 10_000,
  }),
  SMTP_HOST: env.text('Takes the mail of the installation itself; unset: the edge', undefined),
  SMTP_PORT: env.integer('Its port', 25, { min: 1, max: 65535 }),
  ALERT_FROM_ADDRESS: env.text('Sender of such mail; ADMIN_EMAIL when unset', undefined),
  ADMIN_EMAIL: env.text('Who runs the installation', undefined),
  MONITOR_SMTP_HOST: env.text(
    'Postfix, whose greeting is looked at; unset: the reinjection',
    undefined,
  ),
  MONITOR_SMTP_PORT: env.integer('Its port', 25, { min: 1, max: 65535 }),
  MONITOR_RSPAMD_URL: env.url('Controller of Rspamd, which is pinged', ['http:', 'https:']),
  AUTO_SUSPEND_ENABLED: env.flag('Suspend SMTP credentials most of whose mail fails', false),

  IMAP_AUTH_TIMEOUT: env.integer('Seconds a login check may take', 10, { min: 1, max: 120 }),
  IMAP_MASTER_USER: env.text('Master login for mailbox filters', undefined),
  IMAP_MASTER_PASSWORD: env.text('Its password', undefined),

  SIEVE_HOST: env.text('ManageSieve server; IMAP_HOST when unset, then dovecot', undefined),
  SIEVE_PORT: env.integer('Its port', 4190, { min: 1, max: 65535 }),
  SIEVE_TLS_VERIFY: env.flag('Verify its certificate', false),
  SIEVE_TIMEOUT: env.integer('Seconds per command', 15, { min: 1, max: 120 }),
  SIEVE_PROBE_TTL: env.integer('Seconds a probe of the filter service counts', 60, {
    min: 1,
    max: 86400,
  }),
  SIEVE_PROBE_TIMEOUT: env.integer('Seconds a probe may take', 3, { min: 1, max: 60 }),
  SIEVE_PROBE_ACCOUNT: env.text('Mailbox that the probe logs in for, as the master', undefined),

  EDGE_DATABASE_URL: env.url(
    'PostgreSQL as the mail servers reach it; unset: as this process does',
    ['postgres:', 'postgresql:'],
  ),
  EDGE_PRIVATE_ADDRESS: env.text('Where mail servers listen to each other', '127.0.0.1'),
  EDGE_TRUSTED_NETWORKS: env.networks('Networks of the control plane, as Dovecot sees it'),
  EDGE_TLS_CERT: env.text('Certificate of the mail servers', '/etc/mailplane/tls/cert.pem'),
  EDGE_TLS_KEY: env.text('Its key', '/etc/mailplane/tls/key.pem'),
  EDGE_MAIL_DIR: env.text('Where mailboxes are kept', '/var/vmail'),
  EDGE_DKIM_DIR: env.text('Where signing keys are kept', '/var/lib/mailplane/dkim'),
  EDGE_RELAY_HOST: env.text('Takes all outgoing mail, as [host]:port', undefined),
  EDGE_POLICY_HOST: env.text('Where decisions are asked for', '127.0.0.1'),
  EDGE_RATE_POLICY_PORT: env.integer('Port of the rate limits; 0: nobody is asked', undefined, {
    max: 65535,
  }),
  EDGE_ACCESS_POLICY_PORT: env.integer('Port of the address rules; 0: nobody is asked', undefined, {
    max: 65535,
  }),
  EDGE_AUTH_POLICY_PORT: env.integer('Port of the login decisions; 0: nobody is asked', undefined, {
    max: 65535,
  }),
  EDGE_CONTENT_FILTER_PORT: env.integer('Port of the content filter; 0: none', undefined, {
    max: 65535,
  }),
  EDGE_POLICY_FAIL_OPEN: env.flag('Mail passes while nobody decides', true),

  STORAGE_WARNING_THRESHOLD: env.integer('Percent of a quota that is worth a warning', 80, {
    min: 1,
    max: 100,
  }),
  STORAGE_CRITICAL_THRESHOLD: env.integer('Percent of a quota that counts as exceeded', 95, {
    min: 1,
    max: 100,
  }),
  STORAGE_CALC_INTERVAL: env.integer('Seconds between reports of usage', 3600, { min: 60 }),
  STORAGE_ALERT_COOLDOWN: env.integer('Seconds before the same alert may be repeated', 3600),

  BACKUP_PASSPHRASE: env.text('Encrypts backups, 12 characters or more', undefined),
  BACKUP_DIR: env.text('Where backups are written; unset: DATA_DIR/backups', undefined),
  BACKUP_RETENTION_DAYS: env.integer('Days that backups are kept; unset: for ever', undefined, {
    min: 1,
  }),
  BACKUP_SCHEDULE: env.text('When backups are made, for people who look', undefined),

  MONITORING_SWEEP_SECONDS: env.integer('Seconds between looks at all services', 10, {
    min: 1,
    max: 3600,
  }),
  MONITORING_HOST_SECONDS: env.integer('Seconds between looks at CPU, memory and disk', 30, {
    min: 1,
    max: 3600,
  }),
  MONITORING_AUTO_HEAL: env.flag('Restart mail servers of a private edge that have died', true),
  ALERT_EVAL_INTERVAL_SECONDS: env.integer('Seconds between evaluations of alert rules', 10, {
    min: 1,
    max: 3600,
  }),
  ALERT_NOTIFICATION_COOLDOWN: env.integer('Seconds before one rule may tell of firing again', 300),
  PROMETHEUS_URL: env.url('Answers for metrics; unset: the samples of the monitoring', [
    'http:',
    'https:',
  ]),

  REPORT_SCHEDULER_INTERVAL_SECONDS: env.integer(
    'Seconds between looks for scheduled reports that are due',
    900,
    { min: 1, max: 86400 },
  ),

  RAG_EMBEDDINGS_URL: env.url(
    'Endpoint as OpenAI has it, up to /v1, that computes embeddings; unset: none',
    ['http:', 'https:'],
  ),
  RAG_EMBEDDINGS_KEY: env.text('Its key', undefined),
  RAG_EMBEDDINGS_MODEL: env.text('Its model', 'text-embedding-3-small'),
  RAG_EMBEDDINGS_TIMEOUT: env.integer('Seconds it has for an answer', 15, { min: 1, max: 300 }),
  RAG_EMBEDDINGS_BATCH: env.integer('Texts in one request to it', 64, { min: 1, max: 2048 }),
  RAG_EMBEDDINGS_CENTS_PER_MILLION: env.integer('US cents for a million tokens there', 0),
  RAG_MODEL_DIR: env.text('Folder of a local model, with word vectors in vectors.txt', undefined),
  RAG_LEASE_SECONDS: env.integer('Seconds before an index job of a dead process is resumed', 30, {
    min: 1,
    max: 3600,
  }),

  WEBHOOK_URL: env.url('The global address that receives every event', ['http:', 'https:']),
  WEBHOOK_URLS: env.list('The same, as a list whose first entry counts', 'addresses', (entry) =>
    /^https?:\/\//.test(entry),
  ),
  WEBHOOK_SECRET: env.text('Signs what is sent; without it signatures are empty', ''),
  WEBHOOK_TIMEOUT: env.integer('Seconds per attempt', 15, { min: 1, max: 300 }),
  WEBHOOK_MAX_RETRIES: env.integer('Retries after the first attempt', 7, { max: 100 }),
  WEBHOOK_RETRY_SCHEDULE: env.numbers(
    'Seconds to wait before each retry; the last one repeats',
    [600, 600, 900, 1800, 3600, 7200, 14400],
  ),
  WEBHOOK_WORKERS: env.integer('Attempts under way at once per process', 4, { min: 1, max: 1000 }),
  WEBHOOK_FANOUT: env.flag('Deliver events to registered endpoints too', false),
  WEBHOOK_ENDPOINT_WORKERS: env.integer(
    'Attempts under way at once to all endpoints, per process',
    256,
    { min: 2, max: 10_000 },
  ),
  WEBHOOK_ENDPOINT_CONCURRENCY: env.integer('Attempts under way at once to one endpoint', 4, {
    min: 1,
    max: 64,
  }),
  WEBHOOK_QUEUE_SIZE: env.integer('Events held in memory; the rest waits in the database', 10_000, {
    min: 1,
    max: 1_000_000,
  }),
  WEBHOOK_CLEANUP_ENABLED: env.flag('Delete old delivery records', true),
  WEBHOOK_CLEANUP_SCHEDULE_HOURS: env.integer('Hours between clean-ups', 4, { min: 1, max: 720 }),
  WEBHOOK_SUCCESSFUL_RETENTION_HOURS: env.integer('Hours to keep successes', 24, { min: 1 }),
  WEBHOOK_FAILED_RETENTION_HOURS: env.integer('Hours to keep failures', 72, { min: 1 }),
  WEBHOOK_AUTO_DELETE_SUCCESSFUL: env.flag('Delete old successes too', true),
  WEBHOOK_CLEANUP_BATCH_SIZE: env.integer('Records per batch of a clean-up', 1000, { min: 1 }),

  MIGRATION_MAX_CONCURRENT_JOBS: env.integer('Jobs under way at once, per process', 5, {
    min: 1,
    max: 100,
  }),
  MIGRATION_CONNECTIONS: env.integer('Connections that carry messages, per job and server', 3, {
    min: 1,
    max: 16,
  }),
  MIGRATION_MAX_CONNECTIONS_PER_HOST: env.integer(
    'Connections to one host at once, from all processes',
    16,
    { min: 2, max: 10_000 },
  ),
  MIGRATION_MAX_MESSAGE_MB: env.integer('Larger messages are not copied', 150, {
    min: 1,
    max: 10_000,
  }),
  MIGRATION_COMMAND_SECONDS: env.integer(
    'The most that a server may take for one command, or for 256 KB of a large message',
    300,
    { min: 1, max: 86_400 },
  ),
  MIGRATION_RETRIES: env.integer('Tries after a lost connection, before a job fails', 6, {
    max: 100,
  }),
  MIGRATION_PROGRESS_SECONDS: env.integer('Seconds between events of progress', 5, { min: 1 }),

  ...trackingVariables,
  ...reputationVariables,
  ...rateLimitVariables,
  ...policyVariables,
  ...certificateVariables,
} as const

export type Variables = ReturnType<typeof env.readVariables<typeof variables>>
export type Config = Readonly<Variables>
export type Edition = Config['SVC_EDITION']

export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  const values = env.readVariables(variables, environment)
  const key = values.SVC_SECRET_KEY
  if (key !== undefined && key.length < 32) {
    throw new env.InvalidVariable('SVC_SECRET_KEY', '32 characters or more', '…')
  }
  const warning = values.RATE_LIMIT_WARNING_THRESHOLD
  if (warning >= values.RATE_LIMIT_CRITICAL_THRESHOLD) {
    const wants = 'below RATE_LIMIT_CRITICAL_THRESHOLD'
    throw new env.InvalidVariable('RATE_LIMIT_WARNING_THRESHOLD', wants, String(warning))
  }
  return withEdge({ ...values, DATA_DIR: resolve(values.DATA_DIR) }, environment)
}

/** What a private edge settles, unless this is set: then its servers are not the ones meant. */
const EDGE_SETTLES: Record<string, string | undefined> = {
  IMAP_HOST: undefined,
  IMAP_PORT: 'IMAP_HOST',
  IMAP_TLS: 'IMAP_HOST',
  IMAP_MASTER_USER: 'IMAP_HOST',
  IMAP_MASTER_PASSWORD: 'IMAP_HOST',
  SIEVE_HOST: 'IMAP_HOST',
  SIEVE_PORT: 'SIEVE_HOST',
  DOVEADM_URL: undefined,
  DOVEADM_API_KEY: 'DOVEADM_URL',
  POSTFIX_CONFIG_DIR: undefined,
  MAIL_LOG_FILE: undefined,
  MAIL_REINJECT_HOST: undefined,
  MAIL_REINJECT_PORT: 'MAIL_REINJECT_HOST',
  MAIL_FILTERED_PORT: 'MAIL_REINJECT_HOST',
  CONTENT_FILTER_PORT: undefined,
  RSPAMD_URL: undefined,
  EDGE_DKIM_DIR: undefined,
  MONITOR_SMTP_HOST: undefined,
  MONITOR_SMTP_PORT: 'MONITOR_SMTP_HOST',
  MONITOR_RSPAMD_URL: undefined,
}

/** Read at every use, because an edge may be started after us, or again elsewhere. */
function withEdge(config: Config, environment: NodeJS.ProcessEnv): Config {
  const isSet = (name: string | undefined) => Boolean(name && environment[name]?.trim())
  const known: Record<string, env.Variable<unknown>> = variables
  for (const [name, other] of Object.entries(EDGE_SETTLES)) {
    const variable = known[name]
    if (!variable || isSet(name) || isSet(other)) continue
    const get = () => {
      const text = edgeEnvironment(config.DATA_DIR)[name]
      return (text && variable.parse(text)) || variable.fallback
    }
    Object.defineProperty(config, name, { get, enumerable: true })
  }
  return config
}

/** The one address that every event goes to; undefined when nobody listens. */
export const globalWebhookUrl = ({ WEBHOOK_URL, WEBHOOK_URLS }: Config): string | undefined =>
  WEBHOOK_URL ?? WEBHOOK_URLS[0]

/** Where recipients and browsers reach this service, without a slash at the end. */
export const publicUrl = ({ SVC_PUBLIC_URL, HOST, PORT }: Config): string =>
  (SVC_PUBLIC_URL ?? `http://${HOST}:${PORT ?? DEVELOPMENT_PORT}`).replace(/\/+$/, '')

function isNameServer(entry: string): boolean {
  if (isIP(entry)) return true
  const match = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(entry)
  return Boolean(match && isIP(match[1] ?? match[2] ?? '') && Number(match[3]) <= 65535)
}
