const WORD = /=\?([\w-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi

/** RFC 2047: `=?utf-8?q?caf=C3=A9?=` as text; what cannot be decoded stays as it is. */
export const decodeWords = (text: string): string =>
  // Spaces between two encoded words only separate them.
  text.replace(/(\?=)[ \t]+(?==\?)/g, '$1').replace(WORD, (word, charset, encoding, content) => {
    try {
      const bytes =
        encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : quotedPrintable(content)
      return new TextDecoder(charset).decode(bytes)
    } catch {
      return word
    }
  })

const quotedPrintable = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll('_', ' ')
      .replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )
