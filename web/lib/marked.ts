const ENTITIES: Partial<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
}

/** Escaped text with `<mark>` around what was found, as pieces of plain text. */
export const markedParts = (html: string): { text: string; isMarked: boolean }[] =>
  html
    .split(/(<mark>.*?<\/mark>)/s)
    .filter((piece) => piece !== '')
    .map((piece) => {
      const inner = /^<mark>(.*)<\/mark>$/s.exec(piece)?.[1]
      const text = (inner ?? piece).replace(
        /&(?:amp|lt|gt|quot|#39);/g,
        (one) => ENTITIES[one] ?? '',
      )
      return { text, isMarked: inner !== undefined }
    })
