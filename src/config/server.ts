import { isIP } from 'node:net'
import { databaseUrl } from './database-url.ts'
import * as env from './env.ts'
import { redisUrl } from './redis-url.ts'

/** The default port of a process that runs the API. */
export const DEVELOPMENT_PORT = 5000

/** The process itself: its listener, its stores, its log and its public face. */
export const serverVariables = {
  PORT: env.port(
    `Listening port (default ${DEVELOPMENT_PORT}, or the own port of a single service)`,
    undefined,
    { min: 0 },
  ),
  HOST: env.text('Listening IP address or host name', '127.0.0.1'),
  DATA_DIR: env.text('Embedded database, bootstrap tokens, key files, logs, spool', './data'),
  DATABASE_URL: databaseUrl('External PostgreSQL; unset: an embedded one under DATA_DIR'),
  DATABASE_POOL: env.integer('Connections to PostgreSQL per process', 10, { min: 2, max: 500 }),
  DATABASE_TIMEOUT: env.integer('Seconds that a statement may take', 8, { min: 1, max: 600 }),
  DATABASE_LONG_TIMEOUT: env.integer(
    'Seconds that a statement of a report, an export, an import or a job may take',
    900,
    { min: 1, max: 86_400 },
  ),
  REDIS_URL: redisUrl('Shared counters and pub/sub when more than one process runs'),

  SVC_USER: env.text('User that serves when the process is started as root'),
  SVC_HELPER_SOCKET: env.text('Socket of the helper that has the rights of root'),
  SVC_SERVICES: env.text('Services that this process runs, as a comma list', 'all'),
  SVC_WORKERS: env.numberOrAuto(
    'Processes that answer requests; `auto`: one below four cores, then half of the cores',
    { min: 1, max: 256 },
  ),
  SVC_DRAIN_SECONDS: env.integer(
    'Seconds between SIGTERM, from which /readyz is 503, and the end of the listener',
    0,
    { max: 600 },
  ),
  SVC_EDITION: env.choice('Edition whose surfaces are offered', 'enterprise', [
    'enterprise',
    'community',
  ]),
  SVC_COOKIE_SECURE: env.flag('Set the Secure flag on cookies', true),
  SVC_SECRET_KEY: env.text('Root key of all encryption at rest, 32 characters or more'),
  SVC_HASHING_COST: env.choice('Cost of password hashes; `lowest` is for tests only', 'standard', [
    'standard',
    'lowest',
  ]),
  SVC_INTERNAL_TOKEN: env.text(
    'Credential that internal worker routes require; unset: made and kept in DATA_DIR',
  ),
  SVC_TRUSTED_PROXIES: env.networks('Proxies whose X-Forwarded-For header is trusted'),
  SVC_OUTBOUND_ALLOW: env.networks('Private networks that tenant-chosen outbound calls may reach'),
  SVC_CORS_ORIGINS: env.list(
    'Web origins that may call the API with credentials',
    'origins such as https://console.example.com',
    (entry) => URL.canParse(entry) && new URL(entry).origin === entry,
  ),
  SVC_PUBLIC_URL: env.url('URL of this service in links; unset: derived from HOST and PORT'),
  SVC_LOG_LEVEL: env.choice('Lowest level that is logged', 'info', [
    'trace',
    'debug',
    'info',
    'warn',
    'error',
    'fatal',
  ]),
  SVC_LOG_STDOUT: env.flag('Write the structured log to standard output too', false),
  SVC_SELF_SERVICE_KEYS: env.flag('Let tenants create and revoke their own API keys', false),
  SVC_INVITATION_HOURS: env.integer('Hours that the link of an invitation works', 72, {
    min: 1,
    max: 720,
  }),
  SVC_PASSWORD_RESET_HOURS: env.integer('Hours that the link of a password reset works', 2, {
    min: 1,
    max: 72,
  }),
  SVC_MFA_ISSUER: env.text('Issuer name that authenticator applications show', 'Mailplane'),
  SVC_MAIL_HOSTNAME: env.text('Mail host that MX records and DNS advice name', 'mail.localhost'),
  SVC_DOMAIN_OWNERSHIP: env.choice(
    'Proof of ownership before a domain is hosted; `off` is for hosts with one owner',
    'on',
    ['on', 'off'],
  ),
  SVC_DNS_TIMEOUT: env.integer('Seconds that one domain verification may take', 10, {
    min: 1,
    max: 60,
  }),
  SVC_DNS_SERVERS: env.list('Resolvers for domain verification', 'ip[:port] entries', isNameServer),
} as const

function isNameServer(entry: string): boolean {
  if (isIP(entry)) return true
  const match = /^(?:\[(.+)\]|([^:]+)):(\d{1,5})$/.exec(entry)
  return Boolean(match && isIP(match[1] ?? match[2] ?? '') && Number(match[3]) <= 65535)
}
