import { lruMap } from './lru-map.ts'
import { DAY_MS } from './time.ts'

// Callers name time zones, in any case of letters.
const MAX_CLOCKS = 1000
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/

/** Accepts the name of a time zone, such as `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false
  try {
    clockOf(name)
    return true
  } catch {
    return false
  }
}

/** The calendar day of a moment, as `2026-11-15`. */
export const localDate = (time: Date, timeZone: string): string => {
  const local = new Date(time.getTime() + offsetAt(time, timeZone))
  return local.toISOString().slice(0, 10)
}

/** The first moment of a calendar day: one o'clock when clocks go forward at midnight. */
export function startOfDay(date: string, timeZone: string): Date {
  const midnight = new Date(date).getTime()
  const offsets = [-DAY_MS, DAY_MS].map((away) => offsetAt(new Date(midnight + away), timeZone))
  const moments = offsets.map((offset) => new Date(midnight - offset))
  const isMidnight = (moment: Date) => moment.getTime() + offsetAt(moment, timeZone) === midnight
  // A day without a midnight starts at the midnight of the previous offset.
  return moments.find(isMidnight) ?? (moments[0] as Date)
}

export const nextDate = (date: string): string =>
  new Date(new Date(date).getTime() + DAY_MS).toISOString().slice(0, 10)

const clocks = lruMap<string, Intl.DateTimeFormat>(MAX_CLOCKS)

function clockOf(timeZone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timeZone)
  if (!clock) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric' } as const
    const time = { hour: 'numeric', minute: 'numeric', second: 'numeric' } as const
    const options = { timeZone, calendar: 'gregory', hourCycle: 'h23', ...fields, ...time } as const
    clock = new Intl.DateTimeFormat('en-US', options)
    clocks.set(timeZone, clock)
  }
  return clock
}

/** The offset from UTC in milliseconds. */
function offsetAt(time: Date, timeZone: string): number {
  if (timeZone === 'UTC') return 0
  const parts = clockOf(timeZone).formatToParts(time)
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value)
  const local = Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return local - Math.floor(time.getTime() / 1000) * 1000
}
