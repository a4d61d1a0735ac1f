import { describe, expect, it } from 'vitest'
import { parseIso, parseUpperBound } from './dates.ts'

describe('parseIso', () => {
  it.each([
    [''],
    ['yesterday'],
    ['2026'],
    ['2026-11'],
    ['15.11.2026'],
    ['2026-13-01'],
    ['2026-00-10'],
    ['2026-02-29'],
    ['2026-02-30'],
    ['2026-04-31T10:00:00Z'],
    ['2026-11-15T25:00:00Z'],
    ['2026-11-15T10:60:00Z'],
    ['2026-11-15T10'],
    ['2026-11-15T10:00:00+99'],
    ['2026-11-15 10:00:00; drop table events'],
    ['0000-01-01'],
    ['0001-01-01T00:00:00+01:00'],
    ['9999-12-31T23:59:59-01:00'],
    ['+012026-11-15'],
    ['1763190000'],
  ])('rejects %j', (text) => {
    expect(parseIso(text)).toBeUndefined()
    expect(parseUpperBound(text)).toBeUndefined()
  })

  it.each([
    ['2026-11-15', '2026-11-15T00:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-11-15T10:00', '2026-11-15T10:00:00.000Z'],
    ['2026-11-15 10:00:01', '2026-11-15T10:00:01.000Z'],
    ['2026-11-15T10:00:01.5Z', '2026-11-15T10:00:01.500Z'],
    ['2026-11-15T10:00:01.123456789Z', '2026-11-15T10:00:01.123Z'],
    ['2026-11-15T10:00:00+02:00', '2026-11-15T08:00:00.000Z'],
    ['2026-11-15T10:00:00-0530', '2026-11-15T15:30:00.000Z'],
  ])('reads %s, in UTC unless it has an offset', (text, expected) => {
    expect(parseIso(text)?.toISOString()).toBe(expected)
  })
})

describe('parseUpperBound', () => {
  it('reads a date without a time as the end of that day', () => {
    expect(parseUpperBound('2026-11-15')?.toISOString()).toBe('2026-11-15T23:59:59.999Z')
    expect(parseUpperBound('9999-12-31')?.toISOString()).toBe('9999-12-31T23:59:59.999Z')
  })

  it('reads a datetime as that moment', () => {
    expect(parseUpperBound('2026-11-15T10:00:00Z')?.toISOString()).toBe('2026-11-15T10:00:00.000Z')
  })
})
