import { afterEach, expect, it, vi } from 'vitest'
import { TimedOut, within } from './timeout.ts'

afterEach(() => vi.useRealTimers())

it('returns the result of work that ends in time, and leaves no timer behind', async () => {
  vi.useFakeTimers()
  expect(await within(1000, Promise.resolve(7))).toBe(7)
  expect(vi.getTimerCount()).toBe(0)
})

it('rejects with the error of the work, and leaves no timer behind', async () => {
  vi.useFakeTimers()
  await expect(within(1000, Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(vi.getTimerCount()).toBe(0)
})

it('rejects with TimedOut when the work takes too long', async () => {
  vi.useFakeTimers()
  const outcome = within(1000, new Promise(() => {})).catch((error: unknown) => error)
  await vi.advanceTimersByTimeAsync(1000)
  expect(await outcome).toBeInstanceOf(TimedOut)
})
