import { describe, expect, it } from 'vitest'
import { crossing, levelOf, NOTHING_TOLD, type Told } from './alert-level.ts'

const thresholds = { warning_threshold: 80, critical_threshold: 95 }
const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000)

describe('the storage alert level', () => {
  it.each([
    [799, 1000, 'none'],
    [800, 1000, 'warning'],
    [949, 1000, 'warning'],
    [950, 1000, 'critical'],
    [5000, 1000, 'critical'],
    [5000, 0, 'none'],
    [5000, null, 'none'],
    [0, 1, 'none'],
  ] as const)('for %d of %s bytes is %s', (used, limit, level) => {
    expect(levelOf(used, limit, thresholds)).toBe(level)
  })
})

describe('a storage alert', () => {
  const walk = (steps: [second: number, level: 'none' | 'warning' | 'critical'][]) => {
    let known: Told = NOTHING_TOLD
    return steps.map(([second, level]) => {
      const { after, tell } = crossing(known, level, at(second), 3600)
      known = after
      return tell
    })
  }

  it('is sent once while the level stays the same', () => {
    expect(
      walk([
        [0, 'none'],
        [1, 'warning'],
        [2, 'warning'],
        [9000, 'warning'],
      ]),
    ).toEqual([false, true, false, false])
  })

  it('is sent for each higher level, and not for a lower one', () => {
    expect(
      walk([
        [0, 'warning'],
        [1, 'critical'],
        [2, 'warning'],
        [3, 'none'],
      ]),
    ).toEqual([true, true, false, false])
  })

  it('is sent again after the level dropped, but not within the hold time', () => {
    expect(
      walk([
        [0, 'warning'],
        [10, 'none'],
        [20, 'warning'],
        [30, 'none'],
        [4000, 'warning'],
      ]),
    ).toEqual([true, false, false, false, true])
  })

  it('is sent after the hold time if the level still applies', () => {
    expect(
      walk([
        [0, 'critical'],
        [10, 'none'],
        [20, 'critical'],
        [3599, 'critical'],
        [3601, 'critical'],
        [3602, 'critical'],
      ]),
    ).toEqual([true, false, false, false, true, false])
  })
})
