import * as env from './env.ts'

export const sendingVariables = {
  TEMPLATES_QUOTA_MB: env.integer(
    'Megabytes of templates, with their versions, that one organization can store',
    100,
    { min: 1, max: 1_000_000 },
  ),
  SENDING_CONNECTIONS: env.integer(
    'Connections over which a process hands mail of the API to the mail server',
    8,
    { min: 1, max: 100 },
  ),
  SENDING_MAX_WAITING: env.integer(
    'Messages of one organization that may wait for the mail server',
    20_000,
    { min: 1, max: 10_000_000 },
  ),
} as const
