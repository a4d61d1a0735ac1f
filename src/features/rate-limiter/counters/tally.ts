import type { Bound, Breach } from './counters.ts'
import { type PerWindow, SlidingCount, WATCHED, WINDOWS } from './windows.ts'

const SHORT = 10_000

interface Saved {
  /** By window; short windows are empty, because they end before a restart does. */
  windows: number[][]
  /** The times of the last warning and critical event of each watched window. */
  told: number[]
}

/** The counts of one subject in all windows. */
export class Tally {
  readonly #windows = WINDOWS.map((window) => new SlidingCount(window))
  #told: number[] = WATCHED.flatMap(() => [0, 0])

  at(now: number): PerWindow {
    return this.#windows.map((window) => window.at(now))
  }

  /** The first window whose limit would be exceeded. */
  fullAt(now: number, limits: PerWindow, amounts: PerWindow): number | undefined {
    for (let index = 0; index < limits.length; index++) {
      const [limit, amount] = [limits[index] as number, amounts[index] as number]
      if (limit <= 0 || amount === 0) continue
      if ((this.#windows[index] as SlidingCount).at(now) + amount > limit) return index
    }
    return undefined
  }

  countAt(now: number, window: number): number {
    return (this.#windows[window] as SlidingCount).at(now)
  }

  add(now: number, amounts: PerWindow): void {
    for (const [index, window] of this.#windows.entries()) {
      const amount = amounts[index] as number
      if (amount > 0) window.add(now, amount)
    }
  }

  /** The reached thresholds, each at most once per window length. */
  breaches(now: number, bound: Bound): Breach[] {
    const found: Breach[] = []
    for (const [index, window] of WATCHED.entries()) {
      const limit = bound.limits[window] as number
      if (limit <= 0) continue
      const { name, ms } = WINDOWS[window]
      const count = this.countAt(now, window)
      for (const [step, level] of (['warning', 'critical'] as const).entries()) {
        const last = this.#told[2 * index + step] as number
        const isDue = last === 0 || now - last >= ms || now < last - ms
        if (count * 100 < limit * bound[level] || !isDue) continue
        this.#told[2 * index + step] = now
        found.push({ bound, window: name, level, count, limit })
      }
    }
    return found
  }

  save(): Saved {
    return {
      windows: this.#windows.map((window, index) =>
        WINDOWS[index] && WINDOWS[index].ms > SHORT ? window.save() : [],
      ),
      told: this.#told,
    }
  }

  static restore(saved: Saved | undefined): Tally {
    const tally = new Tally()
    saved?.windows.forEach((window, index) => {
      tally.#windows[index]?.restore(window)
    })
    if (saved) tally.#told = [...saved.told]
    return tally
  }
}
