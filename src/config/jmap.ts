import * as env from './env.ts'

export const jmapVariables = {
  JMAP_PUSH_CONNECTIONS: env.integer(
    'IMAP connections that wait for changes; further accounts are looked at every half minute',
    200,
    { min: 0, max: 10_000 },
  ),
} as const
