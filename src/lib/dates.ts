import { DAY_MS } from './time.ts'

const DATE = /^\d{4}-\d{2}-\d{2}$/
const DATETIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/

/** Parses an ISO date or datetime, in UTC unless it has an offset; undefined for other text. */
export function parseIso(text: string): Date | undefined {
  if (!DATE.test(text) && !DATETIME.test(text)) return undefined
  const withZone = DATE.test(text) || /(Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`
  const date = new Date(withZone.replace(' ', 'T'))
  return isRealDay(text.slice(0, 10)) && hasCommonYear(date) ? date : undefined
}

/** `Date` reads February 30 as March 2. */
const isRealDay = (day: string): boolean => {
  const date = new Date(day)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

/** PostgreSQL reads only the years 1 to 9999 in ISO form. */
const hasCommonYear = (date: Date): boolean =>
  date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999

/** Upper bounds are inclusive: a date without a time means the end of that day. */
export function parseUpperBound(text: string): Date | undefined {
  const date = parseIso(text)
  return date && DATE.test(text) ? new Date(date.getTime() + DAY_MS - 1) : date
}

/** The beginning of the day, in UTC. */
export const midnightOf = (time: Date): Date => new Date(time.toISOString().slice(0, 10))
