export interface Piece {
  text: string
  /** Set where the piece is an address of the web. */
  href?: string
}

const URL_IN_TEXT = /\bhttps?:\/\/[^\s<>"]+/gi

/** Splits a text at its web addresses. A closing mark of the sentence does not belong to them. */
export function linked(text: string): Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const match of text.matchAll(URL_IN_TEXT)) {
    const found = trimmed(match[0])
    if (!URL.canParse(found)) continue
    if (match.index > end) pieces.push({ text: text.slice(end, match.index) })
    pieces.push({ text: found, href: found })
    end = match.index + found.length
  }
  if (end < text.length) pieces.push({ text: text.slice(end) })
  return pieces
}

function trimmed(url: string): string {
  const plain = url.replace(/[.,;:!?'*_]+$/, '')
  // A bracket belongs to the address where it was opened in it.
  return plain.endsWith(')') && !plain.includes('(') ? trimmed(plain.slice(0, -1)) : plain
}
