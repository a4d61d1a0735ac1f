import { expect, it } from 'vitest'
import { HOUR_MS } from '../../lib/time.ts'
import { daysOf, type WindowQuery, wholeDays, windowOf } from './window.ts'

const NOW = new Date('2026-11-15T10:07:33.000Z')
const span = (query: WindowQuery) => {
  const { from, to, days } = windowOf(query, NOW)
  return [from.toISOString().slice(0, 16), to.toISOString().slice(0, 16), days]
}

it('an analytics window of N days ends now, rounded to quarters of an hour', () => {
  expect(span({})).toEqual(['2026-10-16T10:00', '2026-11-15T10:15', 30])
  expect(span({ days: 1 })).toEqual(['2026-11-14T10:00', '2026-11-15T10:15', 1])
})

it('an analytics window includes its start and end dates in the time zone', () => {
  const berlin = { start: '2026-10-25', end: '2026-10-25', timezone: 'Europe/Berlin' }
  expect(span(berlin)).toEqual(['2026-10-24T22:00', '2026-10-25T23:00', 1])
  expect(span({ start: '2026-10-01', end: '2026-10-31' })).toEqual([
    '2026-10-01T00:00',
    '2026-11-01T00:00',
    31,
  ])
})

it.each([
  [{ start: '2026-11-16' }, 'start must lie before end'],
  [{ start: 'yesterday' }, 'start/end must be ISO dates or datetimes'],
  [{ end: '2026-02-30' }, 'start/end must be ISO dates or datetimes'],
  [{ start: '2024-01-01' }, 'At most 366 days at once'],
  [{ timezone: 'Mars/Olympus' }, 'timezone must be a name such as UTC or Europe/Berlin'],
])('the analytics window %j is rejected', (query, message) => {
  expect(() => windowOf(query, NOW)).toThrow(message)
})

it('an analytics window contains each day once across a clock change and a month end', () => {
  const window = windowOf(
    { start: '2026-10-24', end: '2026-11-02', timezone: 'Europe/Berlin' },
    NOW,
  )
  const days = daysOf(window)
  expect(days.map(({ date }) => date.slice(5)).join(' ')).toBe(
    '10-24 10-25 10-26 10-27 10-28 10-29 10-30 10-31 11-01 11-02',
  )
  const hours = days.slice(1).map(({ start }, i) => (+start - +(days[i]?.start ?? 0)) / HOUR_MS)
  expect(hours).toEqual([24, 25, 24, 24, 24, 24, 24, 24, 24])
})

it('an analytics window skips a day that does not exist in the time zone', () => {
  const later = new Date('2012-01-05T00:00:00Z')
  const window = windowOf(
    { start: '2011-12-29', end: '2011-12-31', timezone: 'Pacific/Apia' },
    later,
  )
  const starts = daysOf(window).map(({ start }) => start.getTime())
  expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b))
})

it('an analytics window has whole UTC days only if they fit into it', () => {
  const whole = (query: WindowQuery) => {
    const { from, to } = wholeDays(windowOf(query, NOW))
    return [from.toISOString().slice(0, 16), to.toISOString().slice(0, 16)]
  }
  expect(whole({ days: 3 })).toEqual(['2026-11-13T00:00', '2026-11-15T00:00'])
  expect(whole({ days: 1 })).toEqual(['2026-11-14T10:00', '2026-11-14T10:00'])
  expect(whole({ days: 3, timezone: 'Asia/Kolkata' })).toEqual([
    '2026-11-12T10:00',
    '2026-11-12T10:00',
  ])
})
