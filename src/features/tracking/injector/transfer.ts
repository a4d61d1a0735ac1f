import { type Decoded, type Edit, replaced } from './edits.ts'
import { quotedPrintable } from './quoted-printable.ts'

// RFC 5322, without the line break.
const MAX_LINE = 998
const COLUMNS = 76

/** Undefined for an encoding that is unknown, or a body that does not keep to it. */
export function decode(encoding: string, body: string): Decoded | undefined {
  switch (encoding.trim().toLowerCase()) {
    case '':
    case '7bit':
    case '8bit':
    case 'binary':
      return { text: body, write: (edits) => writePlain(body, edits) }
    case 'quoted-printable':
      return quotedPrintable(body)
    case 'base64':
      return base64(body)
    default:
      return undefined
  }
}

/** A line that would become too long stays as it was; what may stand alone gets a line. */
function writePlain(body: string, edits: readonly Edit[]): string {
  const pieces: string[] = []
  let column = 0
  let at = 0
  // Only the last piece is looked at: a long text that grows is slow to search.
  const put = (piece: string) => {
    const newline = piece.lastIndexOf('\n')
    column = newline === -1 ? column + piece.length : piece.length - newline - 1
    pieces.push(piece)
  }
  let newline = -1
  for (const edit of edits) {
    put(body.slice(at, edit.start))
    if (newline < edit.end && newline !== body.length) {
      newline = body.indexOf('\n', edit.end)
      if (newline === -1) newline = body.length
    }
    const fits = column + edit.text.length + newline - edit.end <= MAX_LINE
    if (fits) put(edit.text)
    else put(edit.ownLine ? `\r\n${edit.text}\r\n` : body.slice(edit.start, edit.end))
    at = edit.end
  }
  put(body.slice(at))
  return pieces.join('')
}

function base64(body: string): Decoded | undefined {
  const letters = body.replace(/[\r\n\t ]+/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(letters) || letters.length % 4 !== 0) return undefined
  const text = Buffer.from(letters, 'base64').toString('latin1')
  return {
    text,
    write(edits) {
      const encoded = Buffer.from(replaced(text, edits), 'latin1').toString('base64')
      const lines = encoded.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? []
      return lines.join('\r\n') + (/\n$/.test(body) ? '\r\n' : '')
    },
  }
}
