import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../lib/time.ts'

/**
 * Sliding windows that end now. Each is counted in buckets; a message leaves a window together with
 * its bucket, at most one bucket late and never early. Windows are checked in this order. The short
 * ones pace messages; the long ones limit recipients, because a message may have many.
 */
export const WINDOWS = [
  { name: 'second', ms: SECOND_MS, buckets: 50, per: 'per second', unit: 'messages' },
  { name: 'minute', ms: MINUTE_MS, buckets: 60, per: 'per minute', unit: 'messages' },
  { name: 'hourly', ms: HOUR_MS, buckets: 60, per: 'per hour', unit: 'recipients' },
  { name: 'daily', ms: DAY_MS, buckets: 96, per: 'per day', unit: 'recipients' },
  { name: 'monthly', ms: 30 * DAY_MS, buckets: 60, per: 'in 30 days', unit: 'recipients' },
  { name: 'burst', ms: 10 * SECOND_MS, buckets: 50, per: 'in 10 seconds', unit: 'messages' },
] as const

export type WindowName = (typeof WINDOWS)[number]['name']

/** One number per window, in the order above. As a limit, 0 means none. */
export type PerWindow = readonly number[]

/** The amount that a message adds to each window. */
export const amountsOf = ({ messages, recipients }: Record<Unit, number>): PerWindow =>
  WINDOWS.map(({ unit }) => (unit === 'messages' ? messages : recipients))

type Unit = (typeof WINDOWS)[number]['unit']

/** Windows with threshold events. Shorter windows end before an operator could react. */
export const WATCHED = [2, 3, 4] as const

/** The counts of one window. Empty buckets are not stored. */
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

  /** The count of the window; the oldest bucket counts in full. */
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
   * A small step back of the clock is ignored. After a step back by more than the window the counts
   * move along; otherwise the window would stay full until the clock catches up.
   */
  #current(now: number): number {
    const current = Math.floor(now / this.#width)
    const newest = this.#starts.at(-1) ?? current
    if (current >= newest) return current
    if (newest - current <= this.#buckets) return newest
    this.#starts = this.#starts.map((start) => start - (newest - current))
    return current
  }

  /** The stored form: start and count of each bucket, alternating. */
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
