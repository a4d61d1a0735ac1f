/** As stored: what the id is made of, the second it happened in, how often so far. */
export type Counted = [key: string, time: number, count: number][]

const KEPT_MS = 2000

/**
 * Tells rows apart that have everything in common which their id is made of, such as two refusals of
 * one recipient in one second: the second such row of a file is always the second, however often the
 * file is read. Lines of a moment ago may come late, so a few seconds are remembered.
 */
export function sameRows(stored: Counted) {
  let counts = new Map(stored.map(([key, time, count]) => [key, { time, count }]))
  let newest = stored.reduce((latest, [, time]) => Math.max(latest, time), 0)
  return {
    distinct(key: string, time: number): string {
      if (time > newest) newest = time
      const seen = counts.get(key)
      if (!seen) {
        counts.set(key, { time, count: 1 })
        return key
      }
      seen.count++
      return `${key}\n${seen.count}`
    },

    /** A file begins: it may have been read before. */
    clear() {
      counts.clear()
    },

    /** Drops what is too old to matter. */
    take(): Counted {
      const kept = [...counts].filter(([, { time }]) => time > newest - KEPT_MS)
      counts = new Map(kept)
      return kept.map(([key, { time, count }]) => [key, time, count])
    },
  }
}
