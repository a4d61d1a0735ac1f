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

describe('following mail through aliases', () => {
  it('ends where no alias takes it', async () => {
    expect(await path('a@x.test', { 'a@x.test': ['b@x.test', 'c@y.test'] })).toBeUndefined()
  })

  it('ends when several ways lead to the same place', async () => {
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
  ])('finds the way back through %s', async (_what, aliases, expected) => {
    expect(await path('a@x.test', aliases)).toBe(expected)
  })

  it('finds the way back into a catch-all', async () => {
    expect(await path('@x.test', { '@x.test': ['nobody@x.test'] })).toBe(
      '@x.test nobody@x.test @x.test',
    )
  })

  it('stays out of a loop it only touches', async () => {
    const aliases = { 'a@x.test': ['b@x.test'], 'b@x.test': ['c@x.test'], 'c@x.test': ['b@x.test'] }
    expect(await path('a@x.test', aliases)).toBeUndefined()
  })

  it('gives up on a long way', async () => {
    const chain = Object.fromEntries(
      Array.from({ length: 31 }, (_, i) => [`a${i}@x.test`, [`a${i + 1}@x.test`]]),
    )
    expect(await path('a1@x.test', chain)).toBeUndefined()
    expect(await path('a0@x.test', chain)).toBe('too far')
  })

  it('gives up on what fans out without end', async () => {
    const many = (from: number) => Array.from({ length: 100 }, (_, i) => `a${from + i}@x.test`)
    const aliases = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`a${i}@x.test`, many((i + 1) * 100)]),
    )
    expect(await path('a0@x.test', { ...aliases, 'a0@x.test': many(1) })).toBe('too far')
  })
})
