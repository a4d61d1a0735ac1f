const WORD = /=\?([\w-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?([^?\s]{0,1000})\?=/gi
const RUN =
  /=\?[\w-]{1,40}(?:\*[\w-]{0,20})?\?[bq]\?[^?\s]{0,1000}\?=(?:\s*=\?[\w-]{1,40}(?:\*[\w-]{0,20})?\?[bq]\?[^?\s]{0,1000}\?=)*/gi

/**
 * RFC 2047: `=?utf-8?q?caf=C3=A9?=` as text; what cannot be decoded stays as it is. Spaces between
 * two encoded words only separate them.
 */
export const decodeWords = (text: string): string =>
  text.replace(RUN, (run) => {
    try {
      return decodeRun(run)
    } catch {
      return run
    }
  })

/** Some programs cut a character in two: words of one charset are decoded together. */
function decodeRun(run: string): string {
  let text = ''
  let bytes: Buffer[] = []
  let current = ''
  const finish = () => {
    if (bytes.length > 0) text += new TextDecoder(current).decode(Buffer.concat(bytes))
    bytes = []
  }
  for (const [, charset = '', encoding = '', content = ''] of run.matchAll(WORD)) {
    if (charset.toLowerCase() !== current) finish()
    current = charset.toLowerCase()
    bytes.push(
      encoding.toLowerCase() === 'b' ? Buffer.from(content, 'base64') : quotedPrintable(content),
    )
  }
  finish()
  return text
}

const quotedPrintable = (text: string): Buffer =>
  Buffer.from(
    text
      .replaceAll('_', ' ')
      .replace(/=([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  )

// 75 characters of a word less `=?utf-8?b?` and `?=`, in base64, leave 45 bytes.
const WORD_BYTES = 45

/** The value of a header field: as it is in ASCII, else in encoded words on lines of their own. */
export function encodeWords(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  words.push(word)
  return words.map((one) => `=?utf-8?b?${Buffer.from(one).toString('base64')}?=`).join('\r\n ')
}
