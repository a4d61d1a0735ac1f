import { describe, expect, it } from 'vitest'
import { isTimeZone, localDate, nextDate, startOfDay } from './time-zones.ts'

describe('isTimeZone', () => {
  it.each(['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+3'])(
    'accepts %s',
    (name) => expect(isTimeZone(name)).toBe(true),
  )
  it.each(['', 'Mars/Olympus', '+05:30', 'Europe/Berlin; drop table', '../etc/passwd', 'UTC '])(
    'rejects "%s"',
    (name) => expect(isTimeZone(name)).toBe(false),
  )
})

describe('startOfDay and nextDate', () => {
  it.each([
    ['2026-11-15', 'UTC', '2026-11-15T00:00:00.000Z'],
    ['2026-11-15', 'Asia/Kolkata', '2026-11-14T18:30:00.000Z'],
    ['2026-11-15', 'Asia/Kathmandu', '2026-11-14T18:15:00.000Z'],
    // Clocks change after midnight: this day starts with the old offset, the next one with the new.
    ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00.000Z'],
    ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00.000Z'],
    ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00.000Z'],
    // Clocks go forward at midnight: the day has no midnight.
    ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00.000Z'],
    ['2026-09-07', 'America/Santiago', '2026-09-07T03:00:00.000Z'],
  ])('start %s in %s at %s', (date, zone, begins) => {
    const start = startOfDay(date, zone)
    expect(start.toISOString()).toBe(begins)
    expect(localDate(start, zone)).toBe(date)
    expect(localDate(new Date(start.getTime() - 1), zone)).not.toBe(date)
  })

  it('return the following day, also at the end of a month and of a year', () => {
    expect(nextDate('2028-02-28')).toBe('2028-02-29')
    expect(nextDate('2026-12-31')).toBe('2027-01-01')
  })
})
