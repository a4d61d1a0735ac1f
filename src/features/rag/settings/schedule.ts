const FIELDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const
const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
const MAX_DAYS = 366 * 5

type Times = readonly Set<number>[]

/** Five fields as cron has them, with `*`, lists, ranges and steps; undefined when it is no such thing. */
function parse(text: string): Times | undefined {
  const parts = text.trim().split(/\s+/)
  if (parts.length !== FIELDS.length) return undefined
  const sets = FIELDS.map(([min, max], index) => valuesOf(parts[index] ?? '', min, max))
  return sets.every((set) => set !== undefined) ? (sets as Set<number>[]) : undefined
}

function valuesOf(field: string, min: number, max: number): Set<number> | undefined {
  const values = new Set<number>()
  for (const part of field.split(',')) {
    const match = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/.exec(part)
    if (!match) return undefined
    const [, first, last, every] = match
    const from = first === undefined ? min : Number(first)
    const isOpen = first === undefined || (last === undefined && every !== undefined)
    const to = isOpen ? max : Number(last ?? first)
    const step = Number(every ?? 1)
    if (from < min || to > max || from > to || step === 0) return undefined
    for (let value = from; value <= to; value += step) values.add(value)
  }
  return values
}

export const isSchedule = (text: string): boolean => parse(text) !== undefined

/** The first minute after a moment that a schedule names, in UTC; undefined when there is none. */
export function nextTime(schedule: string, after: Date): Date | undefined {
  const times = parse(schedule)
  if (!times) return undefined
  const [minutes, hours, days, months, weekdays] = times as [
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
    Set<number>,
  ]
  const isDay = (date: Date) => {
    if (!months.has(date.getUTCMonth() + 1)) return false
    const weekday = date.getUTCDay()
    const onWeekday = weekdays.has(weekday) || (weekday === 0 && weekdays.has(7))
    // As cron does it: when both are restricted, either will do.
    const anyDay = days.size === 31
    const anyWeekday = weekdays.size >= 7
    const onDay = days.has(date.getUTCDate())
    if (anyDay || anyWeekday) return onDay && onWeekday
    return onDay || onWeekday
  }
  const first = Math.floor(after.getTime() / MINUTE_MS) + 1
  let minute = first
  for (let tried = 0; tried < MAX_DAYS; tried++) {
    const dayEnd = (Math.floor(minute / DAY_MINUTES) + 1) * DAY_MINUTES
    if (isDay(new Date(minute * MINUTE_MS))) {
      for (; minute < dayEnd; minute++) {
        const date = new Date(minute * MINUTE_MS)
        if (hours.has(date.getUTCHours()) && minutes.has(date.getUTCMinutes())) return date
      }
    }
    minute = dayEnd
  }
  return undefined
}
