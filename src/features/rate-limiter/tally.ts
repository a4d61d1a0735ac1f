import type { Bound, Breach } from './counters.ts'
import { type PerWindow, SlidingCount, WATCHED, WINDOWS } from './windows.ts'

const SHORT = 10_000

interface Saved {
  /** By window; the short ones are empty, they are over before a restart is. */
  windows: number[][]
  /** When the warning and the critical threshold of each watched window were last told. */
  told: number[]
}

/** Everything that is counted of one subject. */
export class Tally {
  readonly #windows = WINDOWS.map((window) => new SlidingCount(window))
  #told: number[] = WATCHED.flatMap(() => [0, 0])

  at(now: number): PerWindow {
    return this.#windows.map((window) => window.at(now))
  }

  /** The first window, in their order, in which there is no room left. */
  fullAt(now: number, limits: PerWindow, amount: number): number | undefined {
    for (let index = 0; index < limits.length; index++) {
      const limit = limits[index] as number
      if (limit > 0 && (this.#windows[index] as SlidingCount).at(now) + amount > limit) return index
    }
    return undefined
  }

  countAt(now: number, window: number): number {
    return (this.#windows[window] as SlidingCount).at(now)
  }

  add(now: number, amount: number): void {
    for (const window of this.#windows) window.add(now, amount)
  }

  /** Thresholds that are reached, each at most once per length of its window. */
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
