import * as env from './env.ts'

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

// Short windows pace messages; long ones limit recipients.
const UNITS = {
  SECOND: 'messages',
  MINUTE: 'messages',
  HOURLY: 'recipients',
  DAILY: 'recipients',
  MONTHLY: 'recipients',
  BURST: 'messages',
} as const

type Name = `${keyof typeof DEFAULTS}_${(typeof WINDOWS)[number]}_DEFAULT`

const MAX_LIMIT = 2_147_483_647

/** Limits of an entity without a rule: six windows, three kinds of entities, two directions. */
const defaults = Object.fromEntries(
  Object.entries(DEFAULTS).flatMap(([entity, limits]) =>
    WINDOWS.map((window, index) => [
      `${entity}_${window}_DEFAULT`,
      env.integer(`Default limit of ${UNITS[window]}; 0 means none`, limits[index] ?? 0, {
        max: MAX_LIMIT,
      }),
    ]),
  ),
) as Record<Name, env.Variable<number>>

export const rateLimitVariables = {
  RATE_LIMITER_URL: env.url('URL of the rate_limiter service, when another process runs it'),
  RATE_LIMIT_WARNING_THRESHOLD: env.integer('Percent of a limit that emits a warning', 80, {
    min: 1,
    max: 99,
  }),
  RATE_LIMIT_CRITICAL_THRESHOLD: env.integer('Percent of a limit that is critical', 95, {
    min: 2,
    max: 100,
  }),
  ...defaults,
} as const

/** Postfix waits ten seconds for Dovecot; the password is verified after the delay. */
export const MAX_AUTH_DELAY_SECS = 5

export const policyVariables = {
  POLICY_HOST: env.text('Listening IP address of the policy services', '127.0.0.1'),
  POLICY_ON_FAILURE: env.choice('Decision while the database is down', 'open', ['open', 'closed']),
  GEOIP_DATABASE: env.text('Country database in the MaxMind format'),
  MAX_AUTH_FAILURES_PER_IP: env.integer('Failed logins that block an IP address', 10, { min: 1 }),
  MAX_AUTH_FAILURES_PER_USER: env.integer(
    'Failed logins that block one account from one IP address',
    5,
    { min: 1 },
  ),
  MAX_AUTH_FAILURES_PER_ACCOUNT: env.integer(
    'Failed logins from all IP addresses that block an account where it is not known',
    50,
    { min: 1 },
  ),
  AUTH_FAILURE_WINDOW_SECS: env.integer('Seconds in which failures are counted', 900, { min: 1 }),
  AUTH_BLOCK_DURATION_SECS: env.integer('Seconds that a block lasts', 3600, { min: 1 }),
  AUTH_DELAY_SECS: env.integer('Delay in seconds after the first failure; 0: no delays', 2, {
    max: MAX_AUTH_DELAY_SECS,
  }),
  AUTH_POLICY_EXEMPT: env.networks('Networks that failed logins never block'),
} as const
