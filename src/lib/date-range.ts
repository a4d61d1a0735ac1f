import { Unprocessable } from '../errors.ts'
import { parseIso, parseUpperBound } from './dates.ts'

export interface DateRange {
  from?: Date
  to?: Date
}

/** Parses the two optional bounds of a filter; `names` are the parameters named in the error. */
export function dateRange(
  start: string | undefined,
  end: string | undefined,
  names = 'date_from/date_to',
): DateRange {
  const from = start === undefined ? undefined : parseIso(start)
  const to = end === undefined ? undefined : parseUpperBound(end)
  if ((start !== undefined && !from) || (end !== undefined && !to)) {
    throw new Unprocessable(`${names} must be ISO dates or datetimes`)
  }
  return { ...(from && { from }), ...(to && { to }) }
}
