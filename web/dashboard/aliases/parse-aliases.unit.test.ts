import { expect, it } from 'vitest'
import { parseAliases } from './parse-aliases.ts'

it('reads an alias from each line, whatever separates the addresses', () => {
  const { aliases, badLine } = parseAliases(
    'a@x.test, b@x.test\n\nc@x.test\td@x.test;e@x.test\r\n@x.test -> f@x.test\n',
  )
  expect(badLine).toBeUndefined()
  expect(aliases).toEqual([
    { source: 'a@x.test', destination: 'b@x.test' },
    { source: 'c@x.test', destination: 'd@x.test,e@x.test' },
    { source: '@x.test', destination: 'f@x.test' },
  ])
})

it('names the first line without a destination', () => {
  expect(parseAliases('a@x.test b@x.test\nc@x.test\nd@x.test').badLine).toBe(2)
})

it('leaves out a header, and says which lines have a problem', () => {
  const { aliases, lines } = parseAliases(
    'alias,destination\na@x.test,b@x.test\na@x.test,c@x.test\nd@x.test',
  )
  expect(lines.map(({ line, problem }) => [line, problem])).toEqual([
    [2, undefined],
    [3, 'twice'],
    [4, 'noDestination'],
  ])
  expect(aliases).toEqual([{ source: 'a@x.test', destination: 'b@x.test' }])
})
