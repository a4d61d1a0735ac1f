import { DAY_MS, HOUR_MS } from '../../lib/time.ts'
export const PERIOD_TYPES = ['HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY'] as const
export type PeriodType = (typeof PERIOD_TYPES)[number]

export interface Period {
  start: Date
  end: Date
}

// The Monday after the epoch, which was a Thursday.
const MONDAY_MS = 4 * DAY_MS
const WEEK_MS = 7 * DAY_MS

/** The UTC period of a time. Weeks begin on Monday. */
export function periodOf(type: PeriodType, at: Date): Period {
  if (type === 'MONTHLY') {
    const month = (offset: number) =>
      new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1))
    return { start: month(0), end: month(1) }
  }
  const [length, from] =
    type === 'HOURLY' ? [HOUR_MS, 0] : type === 'DAILY' ? [DAY_MS, 0] : [WEEK_MS, MONDAY_MS]
  const start = Math.floor((at.getTime() - from) / length) * length + from
  return { start: new Date(start), end: new Date(start + length) }
}

/** The previous and the current period, because late events still count. */
export function lastTwo(type: PeriodType, at: Date): Period[] {
  const now = periodOf(type, at)
  return [periodOf(type, new Date(now.start.getTime() - 1)), now]
}
