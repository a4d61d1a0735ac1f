import { expect, it } from 'vitest'
import { decodeWords, encodeWords } from './encoded-words.ts'

it.each([
  ['plain', 'plain'],
  ['=?utf-8?q?caf=C3=A9_au_lait?=', 'café au lait'],
  ['=?ISO-8859-1?B?R3L832U=?= from =?utf-8?b?8J+YgA==?=', 'Grüße from 😀'],
  // A character cut in two, as some programs do it.
  ['=?utf-8?b?4oI=?=\r\n =?utf-8?b?rA==?= left', '€ left'],
  ['=?no-such-charset?q?abc?=', '=?no-such-charset?q?abc?='],
])('decodes %s', (encoded, text) => {
  expect(decodeWords(encoded)).toBe(text)
})

it.each(['plain', 'Grüße', '=?utf-8?q?not_encoded?=', '😀'.repeat(60), 'é'.repeat(200)])(
  'encodes %s so that it is read back, on lines that are short enough',
  (text) => {
    const encoded = encodeWords(text)
    expect(decodeWords(encoded)).toBe(text)
    for (const line of encoded.split('\r\n ')) expect(line.length).toBeLessThanOrEqual(75)
  },
)
