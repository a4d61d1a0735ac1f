import { isIP } from 'node:net'
import { resolve } from 'node:path'
import * as env from './lib/env.ts'

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

  MAIL_LOG_FILE: env.text('Log of Postfix, which is followed; unset: none is', undefined),
  MAIL_LOG_NAME: env.text('Name of the machine that writes it; unset: its host name', undefined),
  MAIL_LOG_INTERNAL_RELAYS: env.words('Relays that are filters, from which mail comes back', [
    'tracking-filter',
    'webhook-filter',
  ]),
  MAIL_REINJECT_HOST: env.text('Where released messages are handed to Postfix', undefined),
  MAIL_REINJECT_PORT: env.integer('Its port', 10026, { min: 1, max: 65535 }),
  AUTO_SUSPEND_ENABLED: env.flag('Suspend SMTP credentials most of whose mail fails', false),

  IMAP_AUTH_TIMEOUT: env.integer('Seconds a login check may take', 10, { min: 1, max: 120 }),

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
  WEBHOOK_QUEUE_SIZE: env.integer('Events held in memory; the rest waits in the database', 10_000, {
    min: 1,
    max: 1_000_000,
  }),
  WEBHOOK_CLEANUP_ENABLED: env.flag('Delete old delivery records', true),
  WEBHOOK_CLEANUP_SCHEDULE_HOURS: env.integer('Hours between clean-ups', 4, { min: 1, max: 720 }),
  WEBHOOK_SUCCESSFUL_RETENTION_HOURS: env.integer('Hours to keep successes', 24, { min: 1 }),
  WEBHOOK_FAILED_RETENTION_HOURS: env.integer('Hours to keep failures', 72, { min: 1 }),
  WEBHOOK_CLEANUP_BATCH_SIZE: env.integer('Records per batch of a clean-up', 1000, { min: 1 }),
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
  return { ...values, DATA_DIR: resolve(values.DATA_DIR) }
}

/** The one address that every event goes to; undefined when nobody listens. */
export const globalWebhookUrl = ({ WEBHOOK_URL, WEBHOOK_URLS }: Config): string | undefined =>
  WEBHOOK_URL ?? WEBHOOK_URLS[0]

function isNameServer(entry: string): boolean {
  if (isIP(entry)) return true
  const match = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(entry)
  return Boolean(match && isIP(match[1] ?? match[2] ?? '') && Number(match[3]) <= 65535)
}
