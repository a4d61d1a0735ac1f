import * as env from './env.ts'

export const webhookVariables = {
  WEBHOOK_URL: env.url('Global URL that receives every event'),
  WEBHOOK_URLS: env.list('A list whose first entry replaces WEBHOOK_URL', 'addresses', (entry) =>
    /^https?:\/\//.test(entry),
  ),
  WEBHOOK_SECRET: env.text('Signs deliveries; without it signatures are empty', ''),
  WEBHOOK_TIMEOUT: env.integer('Seconds per attempt', 15, { min: 1, max: 300 }),
  WEBHOOK_MAX_RETRIES: env.integer('Retries after the first attempt', 7, { max: 100 }),
  WEBHOOK_RETRY_SCHEDULE: env.numbers(
    'Seconds to wait before each retry; the last one repeats',
    [600, 600, 900, 1800, 3600, 7200, 14400],
  ),
  WEBHOOK_WORKERS: env.integer('Concurrent attempts per process', 4, { min: 1, max: 1000 }),
  WEBHOOK_FANOUT: env.flag('Deliver events to registered endpoints too', false),
  WEBHOOK_ENDPOINT_WORKERS: env.integer('Concurrent attempts to all endpoints, per process', 256, {
    min: 2,
    max: 10_000,
  }),
  WEBHOOK_ENDPOINT_CONCURRENCY: env.integer('Concurrent attempts to one endpoint', 4, {
    min: 1,
    max: 64,
  }),
  WEBHOOK_MAX_ENDPOINTS: env.integer('Registered endpoints per organization', 50, {
    min: 1,
    max: 10_000,
  }),
  WEBHOOK_QUEUE_SIZE: env.integer('Events in memory; the rest waits in the database', 10_000, {
    min: 1,
    max: 1_000_000,
  }),
  WEBHOOK_CLEANUP_ENABLED: env.flag('Delete old delivery records', true),
  WEBHOOK_CLEANUP_SCHEDULE_HOURS: env.integer('Hours between clean-ups', 4, { min: 1, max: 720 }),
  WEBHOOK_SUCCESSFUL_RETENTION_HOURS: env.integer('Hours to keep successes', 24, { min: 1 }),
  WEBHOOK_FAILED_RETENTION_HOURS: env.integer('Hours to keep failures', 72, { min: 1 }),
  WEBHOOK_DEAD_LETTER_RETENTION_DAYS: env.integer(
    'Days to keep dead letters that nothing has resolved',
    90,
    { min: 1, max: 3650 },
  ),
  ACTIVITY_RETENTION_DAYS: env.integer('Days to keep events that tenants see as activity', 90, {
    min: 1,
    max: 3650,
  }),
  WEBHOOK_AUTO_DELETE_SUCCESSFUL: env.flag('Delete old successes too', true),
  WEBHOOK_CLEANUP_BATCH_SIZE: env.integer('Records per batch of a clean-up', 1000, { min: 1 }),
} as const
