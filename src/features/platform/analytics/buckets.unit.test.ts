import { expect, it } from 'vitest'
import { bucketsSince, type Granularity } from './buckets.ts'

const NOW = new Date('2026-03-02T10:07:00Z')
const starts = (days: number, granularity: Granularity) =>
  bucketsSince(days, granularity, NOW).map((start) => start.toISOString().slice(0, 13))

it('returns the buckets from the first to the current one', () => {
  expect(starts(1, 'hour').length).toBe(25)
  expect(starts(1, 'hour').at(0)).toBe('2026-03-01T10')
  expect(starts(3, 'day')).toEqual(
    [27, 28].map((d) => `2026-02-${d}T00`).concat(['2026-03-01T00', '2026-03-02T00']),
  )
})

it('starts weeks on Monday and months on the first day', () => {
  expect(starts(14, 'week')).toEqual(['2026-02-16T00', '2026-02-23T00', '2026-03-02T00'])
  expect(starts(60, 'month')).toEqual(['2026-01-01T00', '2026-02-01T00', '2026-03-01T00'])
})

it('throws for more than 4000 buckets', () => {
  expect(starts(166, 'hour')).toHaveLength(166 * 24 + 1)
  expect(() => starts(167, 'hour')).toThrow('More than 4000 buckets')
})
