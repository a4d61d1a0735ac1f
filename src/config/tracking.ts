import * as env from './env.ts'

const DAYS = { min: 1, max: 36_500 }

export const trackingVariables = {
  TRACKING_ENABLED: env.flag(
    'Track HTML mail that SMTP credentials send; needs SVC_PUBLIC_URL',
    false,
  ),
  TRACKING_EXCLUDE_DOMAINS: env.words('Hosts whose links are never rewritten', []),
  TRACKING_ANONYMIZE_IP: env.flag('Store only the network of an IP address', false),
  TRACKING_DATA_RETENTION_DAYS: env.integer('Days to keep tracking events', 365, DAYS),
  TRACKING_IP_RETENTION_DAYS: env.integer('Days to keep IP addresses in them', 90, DAYS),
  TRACKING_RATE_LIMIT_PER_IP: env.integer('Recorded requests per IP address and window', 1000, {
    min: 1,
  }),
  TRACKING_RATE_LIMIT_WINDOW: env.integer('Seconds of that window', 3600, { min: 1, max: 86_400 }),
} as const
