import { expect, it } from 'vitest'
import { decodeWords, encodeWords } from './words.ts'

it.each([
  ['plain', 'plain'],
  ['=?utf-8?q?caf=C3=A9_au_lait?=', 'café au lait'],
  ['=?ISO-8859-1?B?R3L832U=?= from =?utf-8?b?8J+YgA==?=', 'Grüße from 😀'],
  // Some programs split a character between two words.
  ['=?utf-8?b?4oI=?=\r\n =?utf-8?b?rA==?= left', '€ left'],
  ['=?no-such-charset?q?abc?=', '=?no-such-charset?q?abc?='],
])('decodes %s', (encoded, text) => {
  expect(decodeWords(encoded)).toBe(text)
})

it.each([
  'plain',
  'Grüße',
  '=?utf-8?q?not_encoded?=',
  '😀'.repeat(60),
  'é'.repeat(200),
  '𠀀'.repeat(80),
])('encodes %s so that it decodes again, in words of at most 75 characters', (text) => {
  const encoded = encodeWords(text)
  expect(decodeWords(encoded)).toBe(text)
  for (const line of encoded.split('\r\n ')) expect(line.length).toBeLessThanOrEqual(75)
})

it('decodes encoded words and leaves malformed ones as they are', () => {
  expect(decodeWords('=?utf-8?Q?caf=C3=A9_au?= =?UTF-8?B?IGxhaXQ=?= !')).toBe('café au lait !')
  expect(decodeWords('=?iso-8859-1?q?gr=FC=DFe?=')).toBe('grüße')
  for (const text of ['=?nonsense?q?x?=', '=?utf-8?x?x?=', '=?utf-8?q?x', '=?=?=?=']) {
    expect(decodeWords(text)).toBe(text)
  }
  expect(decodeWords('=?utf-8?q?=ZZ=?=')).toBe('=ZZ=')
})

it('decodes words next to a word in an unknown charset', () => {
  const text = '=?utf-8?q?caf=C3=A9?= =?x-none?q?abc?= =?utf-8?q?=C3=BC?='
  expect(decodeWords(text)).toBe('café =?x-none?q?abc?= ü')
})
