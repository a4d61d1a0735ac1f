import type { Element } from '../../../lib/xml.ts'

/** The time range of a request cannot be read. */
export class UnusableRange extends Error {}

function secondsOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(text)?.slice(1).map(Number)
  if (!parts) throw new UnusableRange('A time range is written as 20260131T000000Z')
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) / 1000
}

/** The bounds of a time-range element in seconds since 1970; at least one of them is required. */
export function rangeIn({ attributes }: Element): { from?: number; to?: number } {
  const from = secondsOf(attributes.start)
  const to = secondsOf(attributes.end)
  if (from === undefined && to === undefined) throw new UnusableRange('A time range has a bound')
  if (from !== undefined && to !== undefined && from >= to) {
    throw new UnusableRange('A time range ends after its start')
  }
  return { ...(from !== undefined && { from }), ...(to !== undefined && { to }) }
}
