import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { memoize, sharedValue } from './cache.ts'

describe('memoize', () => {
  it('computes a result once, until it is the least recently used of too many', () => {
    const compute = vi.fn((text: string) => ({ text }))
    const cached = memoize(compute, 2)
    const first = cached('a')
    cached('b')
    expect(cached('a')).toBe(first)
    cached('c')
    expect(compute).toHaveBeenCalledTimes(3)
    cached('a')
    expect(compute).toHaveBeenCalledTimes(3)
    cached('b')
    expect(compute).toHaveBeenCalledTimes(4)
  })
})

describe('sharedValue', () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }))
  afterEach(() => vi.useRealTimers())
  const AGES = { freshMs: 100, staleMs: 1000 }

  it('computes once for concurrent callers and while the value is fresh', async () => {
    const compute = vi.fn(async () => ({}))
    const value = sharedValue(compute, AGES)
    const [one, other] = await Promise.all([value(50), value(50)])
    expect(other).toBe(one)
    expect(await value(50)).toBe(one)
    expect(compute).toHaveBeenCalledTimes(1)
    vi.advanceTimersByTime(100)
    await value(50)
    expect(compute).toHaveBeenCalledTimes(2)
  })

  it('returns the stale value when the computation takes too long, and later the new one', async () => {
    let finish = (_value: string) => {}
    const results = [
      Promise.resolve('old'),
      new Promise<string>((resolve) => {
        finish = resolve
      }),
    ]
    const value = sharedValue(() => results.shift() as Promise<string>, AGES)
    await value(50)
    vi.advanceTimersByTime(100)
    const late = value(50)
    await vi.advanceTimersByTimeAsync(50)
    expect(await late).toBe('old')
    finish('new')
    await vi.advanceTimersByTimeAsync(0)
    expect(await value(50)).toBe('new')
  })

  it('fails when the computation fails, and when it takes too long without a stale value', async () => {
    const failing = sharedValue(() => Promise.reject(new Error('broken')), AGES)
    await expect(failing(50)).rejects.toThrow('broken')
    const late = sharedValue(() => new Promise(() => {}), AGES)(50).catch((error) => error)
    await vi.advanceTimersByTimeAsync(50)
    expect(await late).toMatchObject({ message: 'no answer within 50 ms' })
  })
})
