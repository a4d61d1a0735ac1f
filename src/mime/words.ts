import libmime from 'libmime'
import { isKnownCharset } from './charset.ts'

const WORD = /=\?([^?*\s]+)(?:\*[^?\s]*)?\?[bq]\?[^?]*\?=/gi
const MAX_WORD = 75

/** RFC 2047: `=?utf-8?q?caf=C3=A9?=` as text. A word in an unknown charset stays as it is. */
export function decodeWords(text: string): string {
  let decoded = ''
  let start = 0
  for (const { 0: word, 1: charset = '', index } of text.matchAll(WORD)) {
    if (isKnownCharset(charset)) continue
    decoded += libmime.decodeWords(text.slice(start, index)) + word
    start = index + word.length
  }
  return decoded + libmime.decodeWords(text.slice(start))
}

/** The value of a header field: unchanged if it is ASCII, else in encoded words, one per line. */
export function encodeWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text
  // Encoding Q: with B, libmime splits characters outside the basic plane.
  return libmime.encodeWord(text, 'Q', MAX_WORD).replaceAll('?= =?', '?=\r\n =?')
}
