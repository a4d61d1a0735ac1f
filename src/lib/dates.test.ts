import { describe, expect, it } from 'vitest'
import { parseIso, parseUpperBound } from './dates.ts'

describe('dates that callers send', () => {
  it.each([
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2024-01-10T12:00', '2024-01-10T12:00:00.000Z'],
    ['2024-01-10 12:00:07', '2024-01-10T12:00:07.000Z'],
    ['2024-01-10T12:00:07.123456Z', '2024-01-10T12:00:07.123Z'],
    ['2024-01-10T12:00:00+02:00', '2024-01-10T10:00:00.000Z'],
    ['2024-01-10T12:00:00-0330', '2024-01-10T15:30:00.000Z'],
  ])('are UTC unless they say otherwise: %s', (text, expected) => {
    expect(parseIso(text)?.toISOString()).toBe(expected)
  })

  it.each([
    '',
    'yesterday',
    '1704844800',
    '2024-1-1',
    '2024-13-01',
    '2023-02-29',
    '2024-02-30T10:00:00Z',
    '2024-01-10T25:00',
    '2024-01-10T12:00:00+99:00',
    '0000-01-01',
    '0001-01-01T00:00:00+12:00',
    '9999-12-31T23:59:59-12:00',
    '2024-01-10T12:00:00Z; drop table',
  ])('are refused when no calendar or no database knows them: "%s"', (text) => {
    expect(parseIso(text)).toBeUndefined()
    expect(parseUpperBound(text)).toBeUndefined()
  })

  it('mean the end of the day as an upper bound, when they name no time', () => {
    expect(parseUpperBound('2024-01-10')?.toISOString()).toBe('2024-01-10T23:59:59.999Z')
    expect(parseUpperBound('2024-01-10T12:00')?.toISOString()).toBe('2024-01-10T12:00:00.000Z')
  })
})
