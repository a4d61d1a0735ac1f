import { expect, it } from 'vitest'
import { occurrences, WINDOW_SECONDS } from './occurrences.ts'

it('numbers equal messages, and starts again after a quiet minute', () => {
  let time = 0
  const number = occurrences(() => time)
  expect([number('a'), number('a'), number('b'), number('a')]).toEqual([1, 2, 1, 3])
  time += WINDOW_SECONDS * 1000 - 1
  expect(number('a')).toBe(4)
  time += WINDOW_SECONDS * 1000
  expect(number('a')).toBe(1)
})

it('forgets the oldest message beyond 100,000', () => {
  const number = occurrences(() => 0)
  number('first')
  for (let i = 0; i < 100_000; i++) number(String(i))
  expect(number('99999')).toBe(2)
  expect(number('first')).toBe(1)
})
