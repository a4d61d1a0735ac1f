/** Limits the cost of a long document; the text after it is not indexed. */
const MAX_CHUNKS = 64

/** Splits a text into chunks of at most `size` characters that overlap. */
export function chunksOf(text: string, size: number, overlap: number): string[] {
  const chunks: string[] = []
  let start = 0
  while (start < text.length && chunks.length < MAX_CHUNKS) {
    const end = endOf(text, start, size)
    const chunk = text.slice(start, end).trim()
    if (chunk !== '') chunks.push(chunk)
    if (end >= text.length) break
    start = Math.max(start + 1, wordBegin(text, end - overlap, end))
  }
  return chunks
}

/** Ends a chunk after a sentence in its last third, else between words, else at the size limit. */
function endOf(text: string, start: number, size: number): number {
  const full = start + size
  if (full >= text.length) return text.length
  const least = start + Math.floor((size * 2) / 3)
  for (let at = full; at > least; at--) {
    if (isSpace(text, at) && '.!?'.includes(text.charAt(at - 1))) return at
  }
  for (let at = full; at > least; at--) if (isSpace(text, at)) return at
  // Does not split a surrogate pair.
  const code = text.charCodeAt(full)
  return code >= 0xdc00 && code <= 0xdfff ? full - 1 : full
}

function wordBegin(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) if (isSpace(text, at)) return at + 1
  return end
}

const isSpace = (text: string, at: number): boolean => text.charCodeAt(at) === 32

/** One line without control characters, as it is stored and searched. */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\ufeff]+/g, ' ')
    .trim()
