import { expect, it } from 'vitest'
import { linked } from './links.ts'

it('finds web addresses and leaves the marks of the sentence', () => {
  expect(linked('See (https://a.test/b). Or http://c.test/d_(e), done.')).toEqual([
    { text: 'See (' },
    { text: 'https://a.test/b', href: 'https://a.test/b' },
    { text: '). Or ' },
    { text: 'http://c.test/d_(e)', href: 'http://c.test/d_(e)' },
    { text: ', done.' },
  ])
})

it('makes no link of anything else', () => {
  const text = 'javascript:alert(1) data:text/html,x mailto:a@b.test https:// <https://[>'
  expect(linked(text)).toEqual([{ text }])
  expect(linked('')).toEqual([])
})

it('keeps every character of the text', () => {
  const text = 'a https://x.test/1!?\nhttps://x.test/2 <https://x.test/3>'
  expect(
    linked(text)
      .map((piece) => piece.text)
      .join(''),
  ).toBe(text)
})
