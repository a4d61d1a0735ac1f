import { lruMap } from './lru-map.ts'

const MAX_NAMES = 100_000

/** The times of failures within a sliding window, by name. */
export function failures(windowMs: number) {
  const times = lruMap<string, number[]>(MAX_NAMES)

  const recent = (name: string, now: number): number[] => {
    const kept = (times.get(name) ?? []).filter((at) => at > now - windowMs)
    if (kept.length > 0) times.set(name, kept)
    else times.delete(name)
    return kept
  }

  return {
    count: (name: string, now: number): number => recent(name, now).length,
    /** The time of the oldest one. */
    first: (name: string, now: number): number | undefined => recent(name, now)[0],
    /** Returns the number of failures including this one. */
    add(name: string, now: number, count = 1): number {
      const all = recent(name, now)
      for (let one = 0; one < Math.min(count, 1000); one++) all.push(now)
      // Bounded: no limit is above a thousand.
      times.set(name, all.slice(-1000))
      return all.length
    },
    clear: (name: string) => times.delete(name),
    clearAll(prefix: string): void {
      for (const name of [...times.keys()]) if (name.startsWith(prefix)) times.delete(name)
    },
    prune(now: number): void {
      for (const name of [...times.keys()]) recent(name, now)
    },
  }
}
