import { Unprocessable } from '../../errors.ts'
import { parseIso } from '../../lib/dates.ts'
import { DAY_MS, MINUTE_MS } from '../../lib/time.ts'
import { isTimeZone, localDate, nextDate, startOfDay } from '../../lib/time-zones.ts'

const QUARTER_MS = 15 * MINUTE_MS
const MOST_DAYS = 366
const DATE = /^\d{4}-\d{2}-\d{2}$/

export const DEFAULT_DAYS = 30

export interface WindowQuery {
  days?: number
  start?: string
  end?: string
  timezone?: string
}

/** From one quarter of an hour (included) to another (excluded). */
export interface Window {
  from: Date
  to: Date
  days: number
  timezone: string
  /** The window ends now. */
  isOpen: boolean
}

/** The last days, or `start` to `end`, whose dates are days of the time zone. */
export function windowOf(query: WindowQuery, now: Date): Window {
  const { timezone = 'UTC' } = query
  if (!isTimeZone(timezone)) {
    throw new Unprocessable('timezone must be a name such as UTC or Europe/Berlin')
  }
  const end = query.end === undefined ? now : endOf(query.end, timezone)
  const start =
    query.start === undefined
      ? new Date(end.getTime() - (query.days ?? DEFAULT_DAYS) * DAY_MS)
      : startOf(query.start, timezone)
  if (start >= end) throw new Unprocessable('start must lie before end')
  const days = Math.max(1, Math.round((end.getTime() - start.getTime()) / DAY_MS))
  if (days > MOST_DAYS) throw new Unprocessable(`At most ${MOST_DAYS} days at once`)
  const isOpen = end >= now
  return {
    from: quarterOf(start),
    to: isOpen ? after(quarterOf(end)) : quarterOf(new Date(end.getTime() + QUARTER_MS - 1)),
    days: query.start === undefined ? (query.days ?? DEFAULT_DAYS) : days,
    timezone,
    isOpen,
  }
}

const quarterOf = (time: Date): Date =>
  new Date(Math.floor(time.getTime() / QUARTER_MS) * QUARTER_MS)

const after = (time: Date): Date => new Date(time.getTime() + QUARTER_MS)

function startOf(sent: string, timezone: string): Date {
  const time = parseIso(sent)
  if (!time) throw new Unprocessable('start/end must be ISO dates or datetimes')
  return DATE.test(sent) ? startOfDay(sent, timezone) : time
}

/** A date means the end of that day. */
const endOf = (sent: string, timezone: string): Date =>
  DATE.test(sent) && parseIso(sent) ? startOfDay(nextDate(sent), timezone) : startOf(sent, timezone)

export interface Day {
  date: string
  start: Date
}

/** The days of a window, partial days included. */
export function daysOf({ from, to, timezone }: Window): Day[] {
  const days: Day[] = []
  const last = localDate(new Date(to.getTime() - 1), timezone)
  for (let date = localDate(from, timezone); date <= last; date = nextDate(date)) {
    const start = startOfDay(date, timezone)
    // A time zone that crossed the date line skipped a day.
    const previous = days.at(-1)
    if (previous && previous.start >= start) days.pop()
    days.push({ date, start })
  }
  return days
}

/** The whole UTC days inside a window; an empty span at its start when there are none. */
export function wholeDays({ from, to, timezone }: Window): { from: Date; to: Date } {
  const first = new Date(Math.ceil(from.getTime() / DAY_MS) * DAY_MS)
  const end = new Date(Math.floor(to.getTime() / DAY_MS) * DAY_MS)
  return timezone === 'UTC' && first < end ? { from: first, to: end } : { from, to: from }
}
