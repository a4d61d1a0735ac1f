import { lruMap } from './lru-map.ts'
import { TimedOut, within } from './timeout.ts'

/** Caches the results of a pure function; the least recently used ones are evicted. */
export function memoize<Result extends object>(
  compute: (text: string) => Result,
  max = 1000,
): (text: string) => Result {
  const results = lruMap<string, Result>(max)
  return (text) => {
    const cached = results.get(text)
    if (cached) return cached
    const result = compute(text)
    results.set(text, result)
    return result
  }
}

interface Ages {
  /** A value up to this age is returned without a new computation. */
  freshMs: number
  /** A value up to this age is returned when the new one takes too long. */
  staleMs: number
}

/**
 * Computes a value once for all concurrent callers. A caller waits for at most `timeoutMs`; the
 * computation goes on, and a later call returns its result.
 */
export function sharedValue<Value>(compute: () => Promise<Value>, { freshMs, staleMs }: Ages) {
  let latest: { value: Value; at: number } | undefined
  let running: Promise<Value> | undefined

  const upToAge = (ms: number) =>
    latest !== undefined && performance.now() - latest.at < ms ? latest : undefined

  const start = (): Promise<Value> => {
    running ??= compute()
      .then((value) => {
        latest = { value, at: performance.now() }
        return value
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  return async (timeoutMs: number): Promise<Value> => {
    const fresh = upToAge(freshMs)
    if (fresh) return fresh.value
    try {
      return await within(timeoutMs, start())
    } catch (error) {
      const stale = error instanceof TimedOut ? upToAge(staleMs) : undefined
      if (stale) return stale.value
      throw error
    }
  }
}
