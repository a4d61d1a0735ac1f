import { describe, expect, it } from 'vitest'
import { crossing, levelOf, NOTHING_TOLD, type Told } from './alert-level.ts'

const thresholds = { warning_threshold: 80, critical_threshold: 95 }
const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1000)

describe('the level of usage', () => {
  it.each([
    [799, 1000, 'none'],
    [800, 1000, 'warning'],
    [949, 1000, 'warning'],
    [950, 1000, 'critical'],
    [5000, 1000, 'critical'],
    [5000, 0, 'none'],
    [5000, null, 'none'],
    [0, 1, 'none'],
  ] as const)('of %d in %s is %s', (used, limit, level) => {
    expect(levelOf(used, limit, thresholds)).toBe(level)
  })
})

describe('a crossing', () => {
  const walk = (steps: [second: number, level: 'none' | 'warning' | 'critical'][]) => {
    let known: Told = NOTHING_TOLD
    return steps.map(([second, level]) => {
      const { after, tell } = crossing(known, level, at(second), 3600)
      known = after
      return tell
    })
  }

  it('is told once, however often the level is seen', () => {
    expect(
      walk([
        [0, 'none'],
        [1, 'warning'],
        [2, 'warning'],
        [9000, 'warning'],
      ]),
    ).toEqual([false, true, false, false])
  })

  it('is told for each level on the way up, and not on the way down', () => {
    expect(
      walk([
        [0, 'warning'],
        [1, 'critical'],
        [2, 'warning'],
        [3, 'none'],
      ]),
    ).toEqual([true, true, false, false])
  })

  it('is told again after going back, but not while it only swings', () => {
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

  it('that was held back is told later, if it still holds', () => {
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
