import * as env from './env.ts'

export const jmapVariables = {
  JMAP_PUSH_CONNECTIONS: env.integer(
    'IMAP connections that wait for changes; further accounts are looked at every half minute',
    200,
    { min: 0, max: 10_000 },
  ),
  JMAP_STALL_SECONDS: env.integer(
    'Seconds after which a download ends whose reader takes nothing',
    60,
    { min: 1, max: 3600 },
  ),
} as const
