import { expect, it } from 'vitest'
import { isSchedule, nextTime } from './schedule.ts'

const after = new Date('2026-11-15T10:07:30Z')

it.each([
  ['* * * * *', '2026-11-15T10:08:00.000Z'],
  ['0 * * * *', '2026-11-15T11:00:00.000Z'],
  ['*/15 * * * *', '2026-11-15T10:15:00.000Z'],
  ['30 2 * * *', '2026-11-16T02:30:00.000Z'],
  ['0 9-17 * * 1-5', '2026-11-16T09:00:00.000Z'],
  ['0 0 * * 7', '2026-11-22T00:00:00.000Z'],
  ['0 0 1 * 1', '2026-11-16T00:00:00.000Z'],
  ['5/20 * * * *', '2026-11-15T10:25:00.000Z'],
  ['10,20 8-12/2 * * *', '2026-11-15T10:10:00.000Z'],
  ['0 0 29 2 *', '2028-02-29T00:00:00.000Z'],
])('runs %s next at %s', (schedule, expected) => {
  expect(nextTime(schedule, after)?.toISOString()).toBe(expected)
})

it('returns no time for 31 February', () => {
  expect(nextTime('0 0 31 2 *', after)).toBeUndefined()
})

it.each([
  '',
  'hourly',
  '* * * *',
  '60 * * * *',
  '5-1 * * * *',
  '*/0 * * * *',
  'a * * * *',
  '0 0 * * MON',
  '@daily',
  '0 0 0 * * *',
])('rejects "%s" as a schedule', (text) => {
  expect(isSchedule(text)).toBe(false)
})
