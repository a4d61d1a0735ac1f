import { describe, expect, it } from 'vitest'
import { DAY_MS } from '../../../lib/time.ts'
import { forecast } from './forecast.ts'

const START = Date.parse('2026-10-01')
const days = (count: number, bytes: (day: number) => number) =>
  Array.from({ length: count }, (_, day) => ({
    date: new Date(START + day * DAY_MS).toISOString().slice(0, 10),
    used_bytes: bytes(day),
  }))

describe('the forecast of a quota', () => {
  it('is null with less than a week of figures', () => {
    expect(forecast([], 1000)).toBeNull()
    expect(
      forecast(
        days(7, (day) => day * 10),
        1000,
      ),
    ).toBeNull()
    expect(
      forecast(
        days(8, (day) => day * 10),
        1000,
      ),
    ).not.toBeNull()
  })

  it('follows a straight line to the day on which the quota is full', () => {
    expect(
      forecast(
        days(31, (day) => 100 + day * 10),
        1000,
      ),
    ).toEqual({
      bytes_per_day: 10,
      // 400 of 1000 bytes on 31 October.
      days_left: 60,
      fills_at: '2026-12-30',
      based_on_days: 30,
    })
  })

  it('looks at the last thirty days only', () => {
    const growth = days(100, (day) => (day < 69 ? 0 : (day - 69) * 10))
    expect(forecast(growth, 1000)).toMatchObject({ bytes_per_day: 10, based_on_days: 30 })
  })

  it.each([
    ['does not grow', () => 500, 1000],
    ['shrinks', (day: number) => 500 - day, 1000],
    ['has no quota', (day: number) => day, null],
    ['grows so slowly that it takes decades', (day: number) => day, 1_000_000],
  ])('names no day when usage %s', (_, bytes, quota) => {
    expect(forecast(days(31, bytes), quota)).toMatchObject({ fills_at: null, days_left: null })
  })

  it('names today for a quota that is full', () => {
    expect(
      forecast(
        days(31, () => 1000),
        1000,
      ),
    ).toMatchObject({
      fills_at: '2026-10-31',
      days_left: 0,
    })
  })
})
