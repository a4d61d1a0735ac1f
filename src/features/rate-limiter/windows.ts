const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/**
 * Windows slide: they reach back from now, not to the last full hour. Each is counted in buckets; a
 * message leaves a window with its bucket, at most one bucket late and never early. In the order in
 * which they are looked at.
 */
export const WINDOWS = [
  { name: 'second', ms: SECOND, buckets: 50, per: 'per second' },
  { name: 'minute', ms: MINUTE, buckets: 60, per: 'per minute' },
  { name: 'hourly', ms: HOUR, buckets: 60, per: 'per hour' },
  { name: 'daily', ms: DAY, buckets: 96, per: 'per day' },
  { name: 'monthly', ms: 30 * DAY, buckets: 60, per: 'in 30 days' },
  { name: 'burst', ms: 10 * SECOND, buckets: 50, per: 'in 10 seconds' },
] as const

export type WindowName = (typeof WINDOWS)[number]['name']

/** One number per window, in the order above. As a limit, 0 means none. */
export type PerWindow = readonly number[]

/** Windows whose thresholds are told: the shorter ones are over before anybody has read of them. */
export const WATCHED = [2, 3, 4] as const

/** What was counted in one window. Buckets are kept only where there is something in them. */
export class SlidingCount {
  readonly #width: number
  readonly #buckets: number
  #starts: number[] = []
  #counts: number[] = []
  #total = 0

  constructor({ ms, buckets }: { ms: number; buckets: number }) {
    this.#width = ms / buckets
    this.#buckets = buckets
  }

  /** How many the window holds now, the bucket it cuts through counted in full. */
  at(now: number): number {
    const oldest = this.#current(now) - this.#buckets
    let gone = 0
    while (gone < this.#starts.length && (this.#starts[gone] as number) < oldest) {
      this.#total -= this.#counts[gone++] as number
    }
    if (gone > 0) {
      this.#starts.splice(0, gone)
      this.#counts.splice(0, gone)
    }
    return this.#total
  }

  add(now: number, amount: number): void {
    const current = this.#current(now)
    const last = this.#starts.length - 1
    if (this.#starts[last] === current) (this.#counts[last] as number) += amount
    else {
      this.#starts.push(current)
      this.#counts.push(amount)
    }
    this.#total += amount
  }

  /**
   * A clock that steps back a little stands still here. One that was set back by more than the
   * window moves what was counted with it: else the window would stay full until the clock is
   * again where it was.
   */
  #current(now: number): number {
    const current = Math.floor(now / this.#width)
    const newest = this.#starts.at(-1) ?? current
    if (current >= newest) return current
    if (newest - current <= this.#buckets) return newest
    this.#starts = this.#starts.map((start) => start - (newest - current))
    return current
  }

  /** As stored: start and count of each bucket, in turns. */
  save(): number[] {
    return this.#starts.flatMap((start, index) => [start, this.#counts[index] as number])
  }

  restore(saved: readonly number[]): void {
    for (let index = 0; index + 1 < saved.length; index += 2) {
      this.#starts.push(saved[index] as number)
      this.#counts.push(saved[index + 1] as number)
      this.#total += saved[index + 1] as number
    }
  }
}
