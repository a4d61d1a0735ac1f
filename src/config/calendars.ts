import * as env from './env.ts'

export const calendarVariables = {
  CALDAV_QUOTA_MB: env.integer(
    'Megabytes of calendars and contacts that one mailbox or shared mailbox can store',
    200,
    { min: 1, max: 1_000_000 },
  ),
  CALDAV_MAX_COLLECTIONS: env.integer(
    'Calendars and address books of one mailbox or shared mailbox',
    50,
    { min: 3, max: 10_000 },
  ),
  CALDAV_MAX_OBJECTS: env.integer(
    'Events, tasks and contacts of one mailbox or shared mailbox',
    100_000,
    { min: 1, max: 10_000_000 },
  ),
  CALDAV_STALL_SECONDS: env.integer(
    'Seconds after which an answer ends whose reader takes nothing',
    60,
    { min: 1, max: 3600 },
  ),
} as const
