const DATE = /^\d{4}-\d{2}-\d{2}$/
const DATETIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:?\d{2})?$/

/** An ISO date or datetime, in UTC unless it says otherwise; undefined when it is neither. */
export function parseIso(text: string): Date | undefined {
  if (!DATE.test(text) && !DATETIME.test(text)) return undefined
  const withZone = DATE.test(text) || /(Z|[+-]\d{2}:?\d{2})$/.test(text) ? text : `${text}Z`
  const date = new Date(withZone.replace(' ', 'T'))
  return isRealDay(text.slice(0, 10)) && hasCommonYear(date) ? date : undefined
}

/** `Date` takes February 30 for March 2. */
const isRealDay = (day: string): boolean => {
  const date = new Date(day)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day)
}

/** Years 1 to 9999: PostgreSQL reads no other in ISO form. */
const hasCommonYear = (date: Date): boolean =>
  date.getUTCFullYear() >= 1 && date.getUTCFullYear() <= 9999

/** Both bounds are inclusive; a bare date as upper bound means the end of that day. */
export function parseUpperBound(text: string): Date | undefined {
  const date = parseIso(text)
  return date && DATE.test(text) ? new Date(date.getTime() + 24 * 60 * 60 * 1000 - 1) : date
}
