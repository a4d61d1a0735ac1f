import { expect, it } from 'vitest'
import { countedSearches, markedLists } from './long-lists.ts'

const mark = (offset: number) => ({ offset, value: `v${offset}`, id: `id${offset}` })

it('starts from the nearest mark at or before an offset, of the same list', () => {
  const lists = markedLists()
  for (const offset of [3000, 1000, 2000]) lists.add('a', mark(offset))
  expect(lists.before('a', 2999)).toEqual(mark(2000))
  expect(lists.before('a', 3000)).toEqual(mark(3000))
  expect(lists.before('a', 999)).toBeUndefined()
  expect(lists.before('b', 5000)).toBeUndefined()
})

it('forgets all marks of a list ten seconds after the first, the later ones too', () => {
  let now = 0
  const lists = markedLists(() => now)
  lists.add('a', mark(1000))
  now = 9000
  lists.add('a', mark(2000))
  expect(lists.before('a', 2500)).toEqual(mark(2000))
  now = 10_000
  expect(lists.before('a', 2500)).toBeUndefined()
})

it('holds only so many lists', () => {
  const lists = markedLists()
  for (let list = 0; list <= 256; list++) lists.add(`${list}`, mark(1000))
  expect(lists.before('0', 1000)).toBeUndefined()
  expect(lists.before('256', 1000)).toEqual(mark(1000))
})

it('answers those who ask meanwhile with the count that is under way, for ten seconds', async () => {
  let now = 0
  const searches = countedSearches(() => now)
  let tell: (found: { total: number; everything: number }) => void = () => {}
  searches.learn('q', new Promise((resolve) => (tell = resolve)))
  const asked = searches.known('q')
  tell({ total: 5000, everything: 9000 })
  expect(await asked).toEqual({ total: 5000, everything: 9000 })
  now = 10_000
  expect(await searches.known('q')).toBeUndefined()
})

it('does not keep a count that failed', async () => {
  const searches = countedSearches()
  searches.learn('q', Promise.reject(new Error('the database is away')))
  expect(await searches.known('q')).toBeUndefined()
  searches.learn('q', Promise.resolve({ total: 1, everything: 1 }))
  expect(await searches.known('q')).toEqual({ total: 1, everything: 1 })
})
