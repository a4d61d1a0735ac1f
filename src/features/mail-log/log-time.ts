import { DAY_MS } from '../../lib/time.ts'

const MONTHS = 'JanFebMarAprMayJunJulAugSepOctNovDec'

/**
 * Reads the time at the start of a line, in milliseconds since 1970; undefined if there is none.
 * `Nov 15 00:51:34` has no year: it means the latest such day that is at most one day in the future.
 * The last result is cached, because most lines have the time of the previous line.
 */
export function logClock(now: () => Date) {
  let text = ''
  let time: number | undefined
  return (line: string): number | undefined => {
    const first = line.charCodeAt(0)
    const isIso = first >= 48 && first <= 57
    const stamp = isIso ? line.slice(0, line.indexOf(' ')) : line.slice(0, 15)
    if (stamp !== text) {
      text = stamp
      time = isIso ? isoTime(stamp) : syslogTime(stamp, now())
    }
    return time
  }
}

function isoTime(stamp: string): number | undefined {
  const time = Date.parse(stamp)
  return Number.isNaN(time) ? undefined : time
}

function syslogTime(stamp: string, now: Date): number | undefined {
  const match = /^([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d)$/.exec(stamp)
  const month = match ? MONTHS.indexOf(match[1] as string) / 3 : -1
  if (!match || month < 0 || !Number.isInteger(month)) return undefined
  const [day, hour, minute, second] = match.slice(2).map(Number) as [number, number, number, number]
  const thisYear = now.getUTCFullYear()
  // The clock of the mail server may be ahead at new year; February 29 may be years ago.
  for (let year = thisYear + 1; year > thisYear - 9; year--) {
    const time = Date.UTC(year, month, day, hour, minute, second)
    const isThatDay = new Date(time).getUTCDate() === day
    if (isThatDay && time <= now.getTime() + DAY_MS) return time
  }
  return undefined
}
