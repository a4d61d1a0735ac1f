import { Cron } from 'croner'

/** Cron syntax of croner that the API does not offer: names, `L`, `W`, `#` and `@daily`. */
const NUMERIC_FIELDS = /^[\d*,/\s-]+$/

export const isSchedule = (text: string): boolean => parse(text) !== undefined

/** The first minute after a moment that a schedule names, in UTC; undefined when there is none. */
export const nextTime = (schedule: string, after: Date): Date | undefined =>
  parse(schedule)?.nextRun(after) ?? undefined

function parse(text: string): Cron | undefined {
  if (!NUMERIC_FIELDS.test(text)) return undefined
  try {
    // `sloppyRanges` accepts `5/15`, which means every 15 from 5 on.
    return new Cron(text, { mode: '5-part', timezone: 'UTC', sloppyRanges: true })
  } catch {
    return undefined
  }
}
