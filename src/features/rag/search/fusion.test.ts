import { expect, it } from 'vitest'
import { fuse } from './fusion.ts'

const ranked = (document_id: string, weight: number) => ({ document_id, chunk_id: 1, weight })
const order = (fused: { document_id: string }[]) => fused.map((one) => one.document_id)

it('leaves what has all the words where full text had it', () => {
  const fullText = [ranked('a', 1), ranked('b', 1), ranked('c', 0.3)]
  const vectors = [ranked('d', 1), ranked('c', 1), ranked('b', 1)]
  const fused = fuse(fullText, vectors)
  expect(order(fused)).toEqual(['a', 'b', 'c', 'd'])
  const scores = fused.map(({ score }) => score)
  expect(scores[0]).toBe(1)
  expect(scores).toEqual([...scores].sort((one, other) => other - one))
})

it('lets likeness go before what has only a little of the question', () => {
  expect(order(fuse([ranked('a', 0.2)], [ranked('b', 0.9)]))).toEqual(['b', 'a'])
})
