import { describe, expect, it } from 'vitest'
import { markedParts } from './marked.ts'

describe('text with marks', () => {
  it('becomes pieces of plain text', () => {
    expect(markedParts('a &amp;lt; <mark>b &lt;i&gt;</mark> &quot;c&#39;')).toEqual([
      { text: 'a &lt; ', isMarked: false },
      { text: 'b <i>', isMarked: true },
      { text: ' "c\'', isMarked: false },
    ])
    expect(markedParts('')).toEqual([])
  })
})
