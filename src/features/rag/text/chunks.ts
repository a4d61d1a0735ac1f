/** Nobody reads further than that in one document, and a search need not either. */
const MAX_CHUNKS = 64

/** Pieces of a text, each at most `size` characters, that begin with the end of the one before. */
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

/** After a sentence if one ends in the last third, else between words, else wherever it is full. */
function endOf(text: string, start: number, size: number): number {
  const full = start + size
  if (full >= text.length) return text.length
  const least = start + Math.floor((size * 2) / 3)
  for (let at = full; at > least; at--) {
    if (isSpace(text, at) && '.!?'.includes(text.charAt(at - 1))) return at
  }
  for (let at = full; at > least; at--) if (isSpace(text, at)) return at
  // Never between the halves of a character.
  const code = text.charCodeAt(full)
  return code >= 0xdc00 && code <= 0xdfff ? full - 1 : full
}

function wordBegin(text: string, from: number, end: number): number {
  for (let at = from; at < end; at++) if (isSpace(text, at)) return at + 1
  return end
}

const isSpace = (text: string, at: number): boolean => text.charCodeAt(at) === 32

/** One line, no control characters: what is stored, searched and shown. */
export const plainText = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\s\u0000-\u001f\u007f-\u009f\u200b-\u200f\ufeff]+/g, ' ')
    .trim()
