import { describe, expect, it } from 'vitest'
import { lastTwo, periodOf } from './period.ts'
import { deliverabilityScore, engagementScore, overallScore, ratesOf, ratingOf } from './scoring.ts'

const counts = (more: object = {}) => ({
  sent: 1000,
  delivered: 1000,
  bounced: 0,
  complained: 0,
  opened: 0,
  clicked: 0,
  ...more,
})

describe('the reputation score of a domain', () => {
  it.each([
    [{}, 100],
    [{ bounced: 50 }, 80],
    [{ bounced: 100 }, 60],
    [{ bounced: 1000 }, 60],
    [{ complained: 1 }, 90],
    [{ complained: 5 }, 50],
    [{ complained: 1000 }, 50],
    [{ bounced: 1000, complained: 1000 }, 10],
    [{ sent: 0, delivered: 0 }, 100],
    [{ sent: 0, complained: 1 }, 50],
  ])('with %o is %d', (more, score) => {
    expect(overallScore(counts(more))).toBe(score)
  })

  it.each([
    [100, 'excellent'],
    [90, 'excellent'],
    [89.99, 'good'],
    [70, 'good'],
    [69.99, 'fair'],
    [50, 'fair'],
    [49.99, 'poor'],
  ])('of %d has the rating %s', (score, rating) => {
    expect(ratingOf(score)).toBe(rating)
  })

  it('is neutral for deliverability and engagement without data', () => {
    expect(deliverabilityScore(counts({ delivered: 0 }))).toBe(50)
    expect(deliverabilityScore(counts({ delivered: 3, bounced: 1 }))).toBe(75)
    expect(engagementScore(counts())).toBe(50)
    expect(engagementScore(counts({ delivered: 0, opened: 5 }))).toBe(50)
    expect(engagementScore(counts({ opened: 200 }))).toBe(25)
    expect(engagementScore(counts({ opened: 900, clicked: 900 }))).toBe(100)
    expect(ratesOf(counts({ sent: 0, complained: 3 })).complaint_rate).toBe(1)
  })
})

describe('reputation periods', () => {
  it.each([
    ['HOURLY', '2026-03-01T10:59:59.999Z', '2026-03-01T10:00', '2026-03-01T11:00'],
    ['DAILY', '2026-03-01T00:00:00Z', '2026-03-01T00:00', '2026-03-02T00:00'],
    ['WEEKLY', '2026-03-01T23:00:00Z', '2026-02-23T00:00', '2026-03-02T00:00'],
    ['WEEKLY', '2026-03-02T00:00:00Z', '2026-03-02T00:00', '2026-03-09T00:00'],
    ['MONTHLY', '2026-12-31T23:59:59Z', '2026-12-01T00:00', '2027-01-01T00:00'],
  ] as const)('of type %s at %s run from %s to %s', (type, at, start, end) => {
    expect(periodOf(type, new Date(at))).toEqual({
      start: new Date(`${start}Z`),
      end: new Date(`${end}Z`),
    })
  })

  it('include the previous period, which can have another length', () => {
    const [before] = lastTwo('MONTHLY', new Date('2026-03-15T00:00:00Z'))
    expect(before?.start.toISOString()).toBe('2026-02-01T00:00:00.000Z')
  })
})
