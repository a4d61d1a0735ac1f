import { expect, it } from 'vitest'
import { fuse } from './fusion.ts'

const ranked = (document_id: string, weight: number) => ({ document_id, chunk_id: 1, weight })
const order = (fused: { document_id: string }[]) => fused.map((one) => one.document_id)

it('keeps documents with all words in full-text order', () => {
  const fullText = [ranked('a', 1), ranked('b', 1), ranked('c', 0.3)]
  const vectors = [ranked('d', 1), ranked('c', 1), ranked('b', 1)]
  const fused = fuse(fullText, vectors)
  expect(order(fused)).toEqual(['a', 'b', 'c', 'd'])
  const scores = fused.map(({ score }) => score)
  expect(scores[0]).toBe(1)
  expect(scores).toEqual([...scores].sort((one, other) => other - one))
})

it('ranks a similar document before one that matches few words', () => {
  expect(order(fuse([ranked('a', 0.2)], [ranked('b', 0.9)]))).toEqual(['b', 'a'])
})

it('keeps the top full-text results on the first page among many similar documents', () => {
  const fullText = Array.from({ length: 9 }, (_, n) => ranked(`word ${n}`, 0.1))
  const vectors = Array.from({ length: 20 }, (_, n) => ranked(`alike ${n}`, 1))
  const fused = fuse(fullText, vectors)
  const page = order(fused).slice(0, 10)
  expect(page.filter((name) => name.startsWith('word'))).toHaveLength(7)
  expect(page.slice(0, 3)).toEqual(['alike 0', 'alike 1', 'alike 2'])
  expect(fused).toHaveLength(29)
  const scores = fused.map(({ score }) => score)
  expect(scores).toEqual([...scores].sort((one, other) => other - one))
})
