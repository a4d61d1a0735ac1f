import { expect, it } from 'vitest'
import { jsonPieces, jsonSize } from './json-pieces.ts'

const written = (value: unknown) => [...jsonPieces(value)]

it.each([
  ['a small object', { a: 1, b: [true, null, 'ü'] }],
  ['nothing', null],
  ['an object without values', { a: undefined }],
  ['a long text', 'a"\\\n\u2028'.repeat(50_000)],
  ['a long text of surrogate pairs that begins at an odd place', `x${'😀'.repeat(100_000)}`],
  ['a long list', Array.from({ length: 30_000 }, (_, index) => ({ index, gone: undefined }))],
  ['a list with gaps', [undefined, 'x'.repeat(100_000), undefined]],
  ['long names', { ['n'.repeat(200_000)]: { ['"'.repeat(100_000)]: [] } }],
  ['a large object without values', { gone: undefined, long: 'x'.repeat(100_000), none: {} }],
])('writes %s as JSON.stringify does', (_name, value) => {
  expect(JSON.parse(written(value).join(''))).toEqual(JSON.parse(JSON.stringify(value)))
})

it('writes large values in short pieces', () => {
  const shared = { texts: Array.from({ length: 1000 }, () => 'y'.repeat(200)) }
  const pieces = written({ one: [shared, shared], text: 'z'.repeat(1_000_000) })
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(200_000)
})

it('measures values up to a limit, those that are shared each time', () => {
  const shared = { id: 'x'.repeat(1000) }
  const list = Array.from({ length: 10 }, () => shared)
  const size = jsonSize(list, { bytes: 100_000, values: 100 })
  expect(size?.values).toBe(21)
  expect(size?.bytes).toBeGreaterThan(JSON.stringify(list).length * 0.9)
  expect(jsonSize(list, { bytes: 5000, values: 100 })).toBeUndefined()
  expect(jsonSize(list, { bytes: 100_000, values: 20 })).toBeUndefined()
})
