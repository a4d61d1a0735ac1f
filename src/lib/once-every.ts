import { lruMap } from './lru-map.ts'

/**
 * Returns a function that is true at most once per interval for each key, e.g. to log a repeated
 * failure once. With more than `max` keys, the least recently used ones may be true again early.
 */
export function onceEvery(ms: number, max = 1) {
  const trueAt = lruMap<string, number>(max)
  return (key = '', now = Date.now()): boolean => {
    const last = trueAt.get(key)
    if (last !== undefined && now - last < ms) return false
    trueAt.set(key, now)
    return true
  }
}
