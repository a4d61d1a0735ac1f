import * as env from './lib/env.ts'

const DAYS = { min: 1, max: 36_500 }

export const trackingVariables = {
  TRACKING_ENABLED: env.flag('Track HTML mail that SMTP credentials send', false),
  TRACKING_EXCLUDE_DOMAINS: env.words('Hosts whose links are never rewritten', []),
  TRACKING_ANONYMIZE_IP: env.flag('Keep only the network of an address', false),
  TRACKING_DATA_RETENTION_DAYS: env.integer('Days that tracking events are kept', 365, DAYS),
  TRACKING_IP_RETENTION_DAYS: env.integer('Days that addresses in them are kept', 90, DAYS),
  TRACKING_RATE_LIMIT_PER_IP: env.integer('Recorded requests per address and window', 1000, {
    min: 1,
  }),
  TRACKING_RATE_LIMIT_WINDOW: env.integer('Seconds of that window', 3600, { min: 1, max: 86_400 }),
} as const
