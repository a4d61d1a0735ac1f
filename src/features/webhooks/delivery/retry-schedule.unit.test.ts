import { expect, it } from 'vitest'
import { nextAttempt, retryAfterSeconds } from './retry-schedule.ts'

const now = new Date('2026-11-15T09:00:00Z')
const waits = [600, 600, 900, 1800, 3600, 7200, 14400]
const schedule = { waits, maxRetries: 7 }
const wait = (failures: number, asked = 0, random = 0) => {
  const at = nextAttempt(failures, schedule, now, asked, () => random)
  return at && (at.getTime() - now.getTime()) / 1000
}

it('waits 10m, 10m, 15m, 30m, 1h, 2h, 4h after the failures, then gives up: eight attempts', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8].map((failures) => wait(failures))).toEqual([...waits, undefined])
})

it('adds a random tenth at most to a wait', () => {
  expect(wait(1, 0, 0.5)).toBe(630)
  expect(wait(1, 0, 0.999)).toBeLessThan(660)
})

it('waits as long as the receiver asks for, up to the longest wait', () => {
  expect(wait(1, 60)).toBe(600)
  expect(wait(1, 1200)).toBe(1200)
  expect(wait(1, 999_999)).toBe(14400)
})

it('repeats the last wait of a short schedule', () => {
  const short = { waits: [1, 2], maxRetries: 4 }
  const seconds = [1, 2, 3, 4, 5].map((failures) => {
    const at = nextAttempt(failures, short, now, 0, () => 0)
    return at && (at.getTime() - now.getTime()) / 1000
  })
  expect(seconds).toEqual([1, 2, 2, 2, undefined])
})

it('reads Retry-After as seconds or as a date', () => {
  expect(retryAfterSeconds('120', now)).toBe(120)
  expect(retryAfterSeconds('Sun, 15 Nov 2026 09:01:00 GMT', now)).toBe(60)
  expect(retryAfterSeconds('Sun, 15 Nov 2020 09:01:00 GMT', now)).toBe(0)
  expect(retryAfterSeconds('soon', now)).toBe(0)
  expect(retryAfterSeconds(undefined, now)).toBe(0)
})
