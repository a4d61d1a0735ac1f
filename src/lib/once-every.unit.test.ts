import { expect, it } from 'vitest'
import { onceEvery } from './once-every.ts'

it('is true the first time, and again when the interval is over', () => {
  const isDue = onceEvery(1000)
  expect([0, 1, 999, 1000, 1999, 2000].map((now) => isDue('a', now))).toEqual([
    true,
    false,
    false,
    true,
    false,
    true,
  ])
})

it('counts every key on its own', () => {
  const isDue = onceEvery(1000, 2)
  expect(isDue('a', 0)).toBe(true)
  expect(isDue('b', 1)).toBe(true)
  expect(isDue('a', 2)).toBe(false)
  expect(isDue('b', 2)).toBe(false)
})

it('forgets the least recently used key when there are too many', () => {
  const isDue = onceEvery(1000, 2)
  for (const key of ['a', 'b', 'c']) isDue(key, 0)
  expect(isDue('c', 1)).toBe(false)
  expect(isDue('a', 1)).toBe(true)
})

it('needs neither a key nor a time', () => {
  const isDue = onceEvery(60_000)
  expect([isDue(), isDue()]).toEqual([true, false])
})
