import * as env from './env.ts'

export const migrationVariables = {
  MIGRATION_MAX_CONCURRENT_JOBS: env.integer('Concurrent jobs per process', 5, {
    min: 1,
    max: 100,
  }),
  MIGRATION_CONNECTIONS: env.integer('Connections that carry messages, per job and server', 3, {
    min: 1,
    max: 16,
  }),
  MIGRATION_MAX_CONNECTIONS_PER_HOST: env.integer(
    'Concurrent connections to one host, from all processes',
    16,
    { min: 2, max: 10_000 },
  ),
  MIGRATION_MAX_MESSAGE_MB: env.integer('Size above which messages are not copied', 150, {
    min: 1,
    max: 10_000,
  }),
  MIGRATION_COMMAND_SECONDS: env.integer(
    'Time limit of one command, or of 256 KB of a large message',
    300,
    { min: 1, max: 86_400 },
  ),
  MIGRATION_RETRIES: env.integer('Retries after a lost connection, before a job fails', 6, {
    max: 100,
  }),
  MIGRATION_CREDENTIALS_HOURS: env.integer(
    'Hours after the end of a job for which its passwords stay sealed in the database, for `delta` and `retry-failed`; 0 erases them at the end',
    168,
    { max: 8760 },
  ),
  MIGRATION_PROGRESS_SECONDS: env.integer('Seconds between progress events', 5, { min: 1 }),
} as const
