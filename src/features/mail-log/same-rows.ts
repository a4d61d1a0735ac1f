/** The stored form: the key of the id, its time, and the number of rows with that key. */
export type Counted = [key: string, time: number, count: number][]

const MAX_DELAY_MS = 2000

/**
 * Numbers rows with equal keys, such as two rejections of one recipient in one second, so that each gets
 * its own id, and gets it again when the file is read again. Keys are kept for a few seconds, because
 * lines may arrive late.
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

    /** Starts counting again at the start of a file, which may have been read before. */
    clear() {
      counts.clear()
    },

    /** Returns the counts to store and drops old keys. */
    take(): Counted {
      const recent = [...counts].filter(([, { time }]) => time > newest - MAX_DELAY_MS)
      counts = new Map(recent)
      return recent.map(([key, { time, count }]) => [key, time, count])
    },
  }
}
