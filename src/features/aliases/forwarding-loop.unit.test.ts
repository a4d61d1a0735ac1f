import { describe, expect, it } from 'vitest'
import { findLoop, type Hop, lookups } from './forwarding-loop.ts'

/** Aliases as `source: destinations`; the first lookup that is an alias decides. */
const routes = (aliases: Record<string, string[]>) => async (addresses: string[]) => {
  const found = new Map<string, Hop>()
  for (const address of addresses) {
    const source = lookups(address).find((lookup) => aliases[lookup])
    if (source) {
      const destinations = aliases[source] as string[]
      found.set(address, { source, organization_id: 'acme', destinations })
    }
  }
  return found
}

const path = async (source: string, aliases: Record<string, string[]>) => {
  const found = await findLoop(source, routes(aliases))
  return typeof found === 'object' ? found.path.join(' ') : found
}

describe('findLoop', () => {
  it('returns undefined when every path ends outside the aliases', async () => {
    expect(await path('a@x.test', { 'a@x.test': ['b@x.test', 'c@y.test'] })).toBeUndefined()
  })

  it('returns undefined when several paths lead to one address', async () => {
    const aliases = {
      'a@x.test': ['b@x.test', 'c@x.test'],
      'b@x.test': ['d@x.test'],
      'c@x.test': ['d@x.test'],
    }
    expect(await path('a@x.test', aliases)).toBeUndefined()
  })

  it.each<[string, Record<string, string[]>, string]>([
    ['itself', { 'a@x.test': ['a@x.test'] }, 'a@x.test a@x.test'],
    [
      'another',
      { 'a@x.test': ['c@x.test', 'b@x.test'], 'b@x.test': ['a@x.test'] },
      'a@x.test b@x.test a@x.test',
    ],
    ['itself with a detail', { 'a@x.test': ['a+copy@x.test'] }, 'a@x.test a+copy@x.test a@x.test'],
    [
      'a catch-all',
      { 'a@x.test': ['nobody@x.test'], '@x.test': ['a@x.test'] },
      'a@x.test nobody@x.test @x.test a@x.test',
    ],
  ])('returns the path of a loop through %s', async (_what, aliases, expected) => {
    expect(await path('a@x.test', aliases)).toBe(expected)
  })

  it('returns the path of a loop back into a catch-all', async () => {
    expect(await path('@x.test', { '@x.test': ['nobody@x.test'] })).toBe(
      '@x.test nobody@x.test @x.test',
    )
  })

  it('returns undefined for a loop that does not contain the source', async () => {
    const aliases = { 'a@x.test': ['b@x.test'], 'b@x.test': ['c@x.test'], 'c@x.test': ['b@x.test'] }
    expect(await path('a@x.test', aliases)).toBeUndefined()
  })

  it('returns "too far" for a path of too many aliases', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 31 }, (_, i) => [`a${i}@x.test`, [`a${i + 1}@x.test`]]),
    )
    expect(await path('a1@x.test', chain)).toBeUndefined()
    expect(await path('a0@x.test', chain)).toBe('too far')
  })

  it('returns "too far" for too many addresses', async () => {
    const many = (from: number) => Array.from({ length: 100 }, (_, i) => `a${from + i}@x.test`)
    const aliases = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`a${i}@x.test`, many((i + 1) * 100)]),
    )
    expect(await path('a0@x.test', { ...aliases, 'a0@x.test': many(1) })).toBe('too far')
  })
})
