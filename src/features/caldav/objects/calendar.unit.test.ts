import { describe, expect, it } from 'vitest'
import { event } from '../../../../test/support/dav-objects.ts'
import { parseCalendar, partsOf, readCalendar } from './calendar.ts'
import { readCard } from './card.ts'
import { instancesOf, OutOfBudget } from './instances.ts'
import { FAR } from './times.ts'

const seconds = (text: string) => Date.parse(text) / 1000
const span = (text: string) => {
  const { first_at, last_at } = readCalendar(text)
  return [first_at, last_at]
}
const starts = (text: string, from: string, to: string) =>
  [...instancesOf(partsOf(parseCalendar(text)), { from: seconds(from), to: seconds(to) })]
    .map(({ start }) => new Date(start * 1000).toISOString())
    .sort()

describe('the span of an event', () => {
  it('is its own when it happens once', () => {
    const start = seconds('2026-01-05T12:00:00Z')
    expect(span(event('a', '20260105T120000Z'))).toEqual([start, start])
    expect(span(event('a', '20260105T120000Z', 'DURATION:PT2H'))).toEqual([start, start + 7200])
  })

  it('has no end when it recurs without one', () => {
    expect(span(event('a', '20260105T120000Z', 'RRULE:FREQ=DAILY'))[1]).toBe(FAR)
    expect(span(event('a', '20260105T120000Z', 'RRULE:FREQ=DAILY;COUNT=3'))[1]).toBe(FAR)
    const until = event('a', '20260105T120000Z', 'RRULE:FREQ=DAILY;UNTIL=20260110T120000Z')
    expect(span(until)[1]).toBeGreaterThanOrEqual(seconds('2026-01-10T12:00:00Z'))
    expect(span(until)[1]).toBeLessThan(seconds('2026-01-12T12:00:00Z'))
  })
})

describe('instances', () => {
  it('leave out exceptions and dates that are excluded', () => {
    const master = event(
      'a',
      '20260105T120000Z',
      'DURATION:PT1H',
      'RRULE:FREQ=DAILY;COUNT=4',
      'EXDATE:20260106T120000Z',
    )
    const moved = event('a', '20260109T150000Z', 'RECURRENCE-ID:20260107T120000Z', 'DURATION:PT1H')
    const [, exception = ''] = /(BEGIN:VEVENT[\s\S]*END:VEVENT)/.exec(moved) ?? []
    const text = master.replace('END:VCALENDAR', `${exception}\r\nEND:VCALENDAR`)
    expect(starts(text, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z')).toEqual([
      '2026-01-05T12:00:00.000Z',
      '2026-01-08T12:00:00.000Z',
      '2026-01-09T15:00:00.000Z',
    ])
  })

  it('end with an error beyond the budget', () => {
    const text = event('a', '19000101T000000Z', 'RRULE:FREQ=HOURLY')
    expect(() => starts(text, '2100-01-01T00:00:00Z', '2100-01-02T00:00:00Z')).toThrow(OutOfBudget)
  })
})

describe('a vCard', () => {
  it('needs a version, a UID and an end', () => {
    const lines = ['BEGIN:VCARD', 'VERSION:3.0', 'UID:1', 'FN:A', 'END:VCARD', '']
    expect(readCard(lines.join('\r\n'))).toBe('1')
    for (const missing of [0, 1, 2, 4]) {
      const text = lines.filter((_line, index) => index !== missing).join('\r\n')
      expect(() => readCard(text), lines[missing]).toThrow()
    }
  })
})
