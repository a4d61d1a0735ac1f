import { describe, expect, it } from 'vitest'
import { chunksOf, plainText } from './chunks.ts'
import { htmlText } from './html-text.ts'
import { languageOf } from './language.ts'
import { lexicalVector } from './lexical-vector.ts'
import { cosine, maskOf, signatureOf, toBytes } from './quantized.ts'

describe('chunksOf', () => {
  const text = Array.from({ length: 80 }, (_, i) => `Sentence number ${i} is here.`).join(' ')

  it('returns chunks within the size limit that contain every sentence', () => {
    const chunks = chunksOf(text, 300, 60)
    expect(chunks.length).toBeGreaterThan(5)
    for (const chunk of chunks) expect(chunk.length).toBeLessThanOrEqual(300)
    for (let i = 0; i < 80; i++) {
      expect(chunks.some((chunk) => chunk.includes(`Sentence number ${i} is here.`))).toBe(true)
    }
  })

  it('starts a chunk with the end of the previous one', () => {
    const [first = '', second = ''] = chunksOf(text, 300, 60)
    expect(first.endsWith(second.slice(0, 20))).toBe(false)
    expect(first).toContain(second.slice(0, 20))
  })

  it('splits a text without spaces between whole characters', () => {
    const chunks = chunksOf('😀'.repeat(1000), 201, 50)
    expect(chunks.length).toBeLessThanOrEqual(64)
    for (const chunk of chunks) expect(chunk.isWellFormed()).toBe(true)
  })

  it('replaces control characters and lone surrogates in plain text', () => {
    expect(plainText('a\u0000b\r\n\tc\ud800')).toBe('a b c\ufffd')
  })
})

it('extracts the visible text of HTML', () => {
  const html =
    '<head><title>t</title><style>p{}</style></head><p>One<p>tw<b>o</b> &amp; <script>x()</script>three'
  expect(plainText(htmlText(html))).toBe('One two & three')
  expect(htmlText('<'.repeat(1000))).toBeTypeOf('string')
})

it.each([
  ['english', 'Please find the report that was sent to you by our office in May.'],
  ['german', 'Bitte senden Sie uns die Rechnung, die wir nicht erhalten haben.'],
  ['french', 'Merci de nous envoyer les documents que vous avez dans votre dossier.'],
  ['russian', 'Это письмо для вас, если вы уже не получили его от нас.'],
  ['simple', 'Invoice 4711'],
])('detects %s by its frequent words', (language, text) => {
  expect(languageOf(text)).toBe(language)
})

describe('lexicalVector', () => {
  const harbour = 'The harbour authority postponed the inspection of the northern lighthouse'
  const budget = 'Quarterly budget figures for marketing are attached to this message'
  const likeness = (one: string, other: string) =>
    cosine(lexicalVector(one), toBytes(lexicalVector(other)))

  it('is similar for misspelled words', () => {
    const question = 'harbor autority postponned inspektion lighthous'
    expect(likeness(question, harbour)).toBeGreaterThan(0.3)
    expect(likeness(question, harbour)).toBeGreaterThan(3 * likeness(question, budget))
  })

  it('keeps its cosine after quantization to bytes', () => {
    expect(likeness(harbour, harbour)).toBeGreaterThan(0.999)
  })

  it('has a near signature for a similar text', () => {
    const distance = (one: string, other: string) => {
      const [a, b] = [signatureOf(lexicalVector(one)), signatureOf(lexicalVector(other))]
      const different = BigInt(`0x${a}`) ^ BigInt(`0x${b}`)
      const counted = different & BigInt(`0x${maskOf(lexicalVector(one))}`)
      return counted.toString(2).replaceAll('0', '').length
    }
    expect(distance('postponed lighthouse inspection', harbour)).toBeLessThan(
      distance('postponed lighthouse inspection', budget) * 0.7,
    )
  })

  it('gives an empty text zero similarity to every other text', () => {
    expect(likeness('the of and', harbour)).toBe(0)
  })
})
