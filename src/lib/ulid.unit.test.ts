import { describe, expect, it } from 'vitest'
import { sequentialIds, ulid } from './ulid.ts'

const SHAPE = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

describe('ulid', () => {
  it('returns a ULID for every time', () => {
    for (const time of [0, 1, Date.now(), 2 ** 48 - 1]) expect(ulid(time)).toMatch(SHAPE)
    expect(ulid(0).startsWith('0000000000')).toBe(true)
    expect(ulid(2 ** 48 - 1).startsWith('7ZZZZZZZZZ')).toBe(true)
    // The example of the ULID specification.
    expect(ulid(1469918176385).startsWith('01ARYZ6S41')).toBe(true)
  })

  it('returns 20,000 different ids in one millisecond', () => {
    const now = Date.now()
    expect(new Set(Array.from({ length: 20_000 }, () => ulid(now))).size).toBe(20_000)
  })

  it('returns ids that sort by time', () => {
    const times = [5, 31, 32, 1023, 1024, 1_700_000_000_000, 1_700_000_000_001, 2 ** 45]
    const ids = times.map((time) => ulid(time))
    expect([...ids].sort()).toEqual(ids)
    expect(ulid(times[0]) < ulid(times[1])).toBe(true)
  })
})

describe('sequentialIds', () => {
  it('returns ascending ids with the prefix and the form of a ULID', () => {
    const next = sequentialIds('req_')
    const names = Array.from({ length: 3000 }, next)
    for (const name of names) expect(name.slice(4)).toMatch(SHAPE)
    expect(names[0]?.startsWith('req_')).toBe(true)
    expect(new Set(names).size).toBe(3000)
    expect([...names].sort()).toEqual(names)
  })

  it('returns different ids in processes that start in the same millisecond', () => {
    expect(sequentialIds('req_')()).not.toBe(sequentialIds('req_')())
  })
})
