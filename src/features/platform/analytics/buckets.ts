import { Unprocessable } from '../../../errors.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/time.ts'

export const GRANULARITIES = ['hour', 'day', 'week', 'month'] as const
export type Granularity = (typeof GRANULARITIES)[number]

const MAX_BUCKETS = 4000

export const isGranularity = (word: string): word is Granularity =>
  (GRANULARITIES as readonly string[]).includes(word)

/** Returns the start of every bucket from `days` ago until now, oldest first, in UTC. */
export function bucketsSince(days: number, granularity: Granularity, now: Date): Date[] {
  const buckets: Date[] = []
  let start = startOf(new Date(now.getTime() - days * DAY_MS), granularity)
  for (; start <= now; start = nextStart(start, granularity)) {
    if (buckets.length === MAX_BUCKETS) {
      throw new Unprocessable(
        `More than ${MAX_BUCKETS} buckets: ask for fewer days or a coarser granularity`,
      )
    }
    buckets.push(start)
  }
  return buckets
}

export function startOf(time: Date, granularity: Granularity): Date {
  const day = new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS)
  switch (granularity) {
    case 'hour':
      return new Date(Math.floor(time.getTime() / HOUR_MS) * HOUR_MS)
    case 'day':
      return day
    case 'week':
      // Weeks begin on Monday.
      return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY_MS)
    case 'month':
      return new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth(), 1))
  }
}

function nextStart(start: Date, granularity: Granularity): Date {
  if (granularity === 'month') {
    return new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1))
  }
  const length = { hour: HOUR_MS, day: DAY_MS, week: 7 * DAY_MS }[granularity]
  return new Date(start.getTime() + length)
}
