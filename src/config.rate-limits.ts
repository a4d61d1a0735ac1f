import * as env from './lib/env.ts'

// Second, minute, hour, day, month, burst.
const DEFAULTS = {
  ORG_OUTBOUND: [20, 200, 10_000, 100_000, 1_000_000, 2000],
  ORG_INBOUND: [10, 100, 5000, 50_000, 500_000, 1000],
  DOMAIN_OUTBOUND: [5, 40, 2000, 20_000, 200_000, 500],
  DOMAIN_INBOUND: [2, 20, 1000, 10_000, 100_000, 200],
  MAILBOX_OUTBOUND: [2, 10, 200, 2000, 20_000, 100],
  MAILBOX_INBOUND: [1, 5, 100, 1000, 10_000, 50],
} as const

const WINDOWS = ['SECOND', 'MINUTE', 'HOURLY', 'DAILY', 'MONTHLY', 'BURST'] as const

type Name = `${keyof typeof DEFAULTS}_${(typeof WINDOWS)[number]}_DEFAULT`

const MAX_LIMIT = 2_147_483_647

/** Where the rate limiter answers the mail servers unless it is told otherwise. */
export const POLICY_PORTS = { rate: 10031, access: 10032, auth: 10033 }

/** Limits of whatever has no rule of its own: six windows, three kinds of entities, two directions. */
const defaults = Object.fromEntries(
  Object.entries(DEFAULTS).flatMap(([entity, limits]) =>
    WINDOWS.map((window, index) => [
      `${entity}_${window}_DEFAULT`,
      env.integer('Default limit of messages; 0 means none', limits[index] as number, {
        max: MAX_LIMIT,
      }),
    ]),
  ),
) as unknown as Record<Name, env.Variable<number>>

export const rateLimitVariables = {
  RATE_LIMITER_URL: env.url(
    'Where the rate_limiter service listens, when another process runs it',
    ['http:', 'https:'],
  ),
  RATE_LIMIT_COUNTS: env.choice('What a message counts as', 'messages', ['messages', 'recipients']),
  RATE_LIMIT_WARNING_THRESHOLD: env.integer('Percent of a limit at which a warning is told', 80, {
    min: 1,
    max: 99,
  }),
  RATE_LIMIT_CRITICAL_THRESHOLD: env.integer('Percent of a limit at which it is critical', 95, {
    min: 2,
    max: 100,
  }),
  ...defaults,
} as const

export const policyVariables = {
  POLICY_HOST: env.text('Address of the policy services for Postfix and Dovecot', '127.0.0.1'),
  POLICY_RATE_PORT: env.integer('Port of the rate limit policy (10031)', undefined, { max: 65535 }),
  POLICY_ACCESS_PORT: env.integer('Port of the access policy (10032)', undefined, { max: 65535 }),
  AUTH_POLICY_PORT: env.integer("Port of Dovecot's auth policy (10033)", undefined, { max: 65535 }),
  POLICY_ON_FAILURE: env.choice('What becomes of mail while nothing can be decided', 'open', [
    'open',
    'closed',
  ]),
  GEOIP_DATABASE: env.text('Country database in the MaxMind format', undefined),
  MAX_AUTH_FAILURES_PER_IP: env.integer('Failed logins that block an address', 10, { min: 1 }),
  MAX_AUTH_FAILURES_PER_USER: env.integer(
    'Failed logins that block one account from one address',
    5,
    { min: 1 },
  ),
  AUTH_FAILURE_WINDOW_SECS: env.integer('Seconds in which they are counted', 900, { min: 1 }),
  AUTH_BLOCK_DURATION_SECS: env.integer('Seconds that a block lasts', 3600, { min: 1 }),
  AUTH_DELAY_SECS: env.integer('Seconds that the first failure costs; 0: no delays', 2, {
    max: 60,
  }),
  AUTH_POLICY_EXEMPT: env.networks('Addresses that failed logins never block'),
} as const
