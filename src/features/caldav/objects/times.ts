import ICAL from 'ical.js'

/** A time after every event, in seconds since 1970. */
export const FAR = 253_402_300_799

/** A longer length has no need of calendar days, and adding them would take long. */
const MAX_DAYS = 36_525

/** The zone in which dates and times without a zone count; undefined is UTC. */
export type Zone = ICAL.Timezone | undefined

/** A time range in seconds since 1970, and the zone of times without one. */
export interface TimeRange {
  from: number
  to: number
  zone?: Zone
}

/** Dates, times without a zone, and times in a zone that their object does not define. */
export const isFloating = ({ zone }: ICAL.Time): boolean => zone === ICAL.Timezone.localTimezone

/** Seconds since 1970 of a time. */
export function secondsOf(time: ICAL.Time, zone?: Zone): number {
  if (!zone || !isFloating(time)) return time.toUnixTime()
  const here = time.clone()
  here.zone = zone
  return here.toUnixTime()
}

/** The time of a property; undefined when it has none or one that is no time. */
export function timeIn(part: ICAL.Component, name: string): ICAL.Time | undefined {
  const value = part.getFirstPropertyValue(name)
  return value instanceof ICAL.Time && Number.isFinite(value.toUnixTime()) ? value : undefined
}

export function timeOf(part: ICAL.Component, name: string, zone?: Zone): number | undefined {
  const time = timeIn(part, name)
  return time && secondsOf(time, zone)
}

/** Days follow the calendar, seconds follow the clock (RFC 5545 section 3.3.6). */
export interface Length {
  days: number
  seconds: number
}

const ENDS: Record<string, string> = { vevent: 'dtend', vfreebusy: 'dtend', vtodo: 'due' }

/** The length of each instance, by the rules of RFC 4791 section 9.9. */
export function lengthOf(part: ICAL.Component, zone?: Zone): Length {
  const start = timeIn(part, 'dtstart')
  const endName = ENDS[part.name]
  const end = endName === undefined ? undefined : timeIn(part, endName)
  if (start && end) return lengthBetween(start, end, zone)
  const duration = part.getFirstPropertyValue('duration')
  if (duration instanceof ICAL.Duration) return lengthIn(duration)
  return { days: start?.isDate && part.name !== 'vtodo' ? 1 : 0, seconds: 0 }
}

/** Other programs store events that end before they start; those count at their start. */
function lengthBetween(start: ICAL.Time, end: ICAL.Time, zone: Zone): Length {
  if (start.isDate && end.isDate) {
    const days = Math.round((end.toUnixTime() - start.toUnixTime()) / 86_400)
    return { days: Math.max(0, days), seconds: 0 }
  }
  return { days: 0, seconds: Math.max(0, secondsOf(end, zone) - secondsOf(start, zone)) }
}

function lengthIn({ weeks, days, hours, minutes, seconds, isNegative }: ICAL.Duration): Length {
  if (isNegative) return { days: 0, seconds: 0 }
  return { days: weeks * 7 + days, seconds: hours * 3600 + minutes * 60 + seconds }
}

/** Seconds since 1970 of the end of an instance. A day with a change of the clock has 23 or 25 hours. */
export function endAfter(start: ICAL.Time, { days, seconds }: Length, zone?: Zone): number {
  if (days === 0 || days > MAX_DAYS) return secondsOf(start, zone) + days * 86_400 + seconds
  const lastDay = start.clone()
  lastDay.adjust(days, 0, 0, 0)
  return secondsOf(lastDay, zone) + seconds
}

/** Start and end of one component without its recurrences. */
export function periodOf(part: ICAL.Component, zone?: Zone): [number, number] {
  const start = timeIn(part, 'dtstart')
  if (start) return [secondsOf(start, zone), endAfter(start, lengthOf(part, zone), zone)]
  return part.name === 'vtodo' ? periodOfTask(part, zone) : [-FAR, FAR]
}

/** A task without a start. */
function periodOfTask(part: ICAL.Component, zone: Zone): [number, number] {
  const due = timeOf(part, 'due', zone)
  const completed = timeOf(part, 'completed', zone)
  const created = timeOf(part, 'created', zone)
  if (due !== undefined) return [due, due]
  if (completed !== undefined && created !== undefined) {
    return [Math.min(created, completed), Math.max(created, completed)]
  }
  if (completed !== undefined) return [completed, completed]
  return [created ?? -FAR, FAR]
}
