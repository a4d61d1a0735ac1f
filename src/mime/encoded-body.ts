import { pipeline, type Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { MimeNode } from '@zone-eu/mailsplit'
import libqp from 'libqp'
import { type EditableBody, replaced, type TextEdit } from './edits.ts'
import { editableQuotedPrintable } from './quoted-printable.ts'
import { nodeOf } from './structure.ts'

// RFC 5322 §2.1.1, without the line break.
const MAX_LINE = 998
const COLUMNS = 76

interface EncodedBody {
  node: MimeNode
  body: Buffer
}

/** The body of a part without its transfer encoding. */
export async function decodedBody({ node, body }: EncodedBody): Promise<Buffer> {
  if (node.encoding === 'quoted-printable') return libqp.decode(withoutLongGaps(body))
  if (node.encoding !== 'base64') return body
  const decoder = node.getDecoder()
  decoder.end(body)
  return buffer(decoder)
}

/** Decodes base64 that is read piece by piece; destroying the result ends the reading. */
export function decodedBase64(pieces: Readable): Readable {
  const decoder = nodeOf(Buffer.from('Content-Transfer-Encoding: base64\r\n\r\n')).getDecoder()
  return pipeline(pieces, decoder, () => {})
}

/** libqp needs quadratic time for a long run of spaces: 80,000 of them block it for a minute. */
const withoutLongGaps = (body: Buffer): string =>
  body.toString('latin1').replace(/[ \t]{100,}/g, (run, at: number, text: string) => {
    const isLineEnd = /^[\r\n]?$/.test(text.charAt(at + run.length))
    return isLineEnd ? '' : run.replaceAll(' ', '=20').replaceAll('\t', '=09')
  })

/** Encodes a body and sets the transfer encoding in the header. */
export async function encodedBody(node: MimeNode, bytes: Buffer, encoding: string) {
  const encoder = node.getEncoder(encoding)
  encoder.end(bytes)
  return buffer(encoder)
}

/** Undefined for an unknown encoding and for a body that is not valid in its encoding. */
export function editableBody({ node, body }: EncodedBody): EditableBody | undefined {
  const text = body.toString('latin1')
  switch (node.encoding || '') {
    case '':
    case '7bit':
    case '8bit':
    case 'binary':
      return { text, write: (edits) => writePlain(text, edits) }
    case 'quoted-printable':
      return editableQuotedPrintable(text)
    case 'base64':
      return editableBase64(text)
    default:
      return undefined
  }
}

/** Leaves out an edit that would make a line too long, unless it may be on a line of its own. */
function writePlain(body: string, edits: readonly TextEdit[]): string {
  const pieces: string[] = []
  let column = 0
  let at = 0
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

function editableBase64(body: string): EditableBody | undefined {
  const letters = body.replace(/[\r\n\t ]+/g, '')
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(letters) || letters.length % 4 !== 0) return undefined
  const text = Buffer.from(letters, 'base64').toString('latin1')
  return {
    text,
    write: (edits) => base64Body(replaced(text, edits)) + (/\n$/.test(body) ? '\r\n' : ''),
  }
}

/** A text that has one character for each byte, in lines of base64. */
export function base64Body(text: string): string {
  const encoded = Buffer.from(text, 'latin1').toString('base64')
  return (encoded.match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? []).join('\r\n')
}
