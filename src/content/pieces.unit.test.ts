import { expect, it } from 'vitest'
import { collectPieces } from './pieces.ts'

it('joins small pieces and keeps the order and every byte', () => {
  const pieces = collectPieces()
  const sent = Array.from({ length: 50_000 }, (_, n) => Buffer.from(`${n}.`))
  sent[10_000] = Buffer.alloc(5000, 'x')
  sent[40_000] = Buffer.alloc(200_000, 'y')
  for (const piece of sent) pieces.add(piece)
  expect(pieces.size).toBe(Buffer.concat(sent).length)
  const taken = pieces.take()
  expect(taken.length).toBeLessThan(20)
  expect(Buffer.concat(taken).equals(Buffer.concat(sent))).toBe(true)
  expect([pieces.size, pieces.take()]).toEqual([0, []])
})
