import libqp from 'libqp'
import { type EditableBody, replaced, type TextEdit } from './edits.ts'

const COLUMNS = 76
const SOFT_BREAK = '=\r\n'

/**
 * Only edited ranges are encoded again; the other bytes stay. This needs the position of decoded
 * bytes in the encoded body, which libqp does not report. The body is read a second time to find
 * the positions of the edits: a list of all positions would take eight times the size of the body.
 */
export function editableQuotedPrintable(body: string): EditableBody {
  return {
    text: decoded(body),
    write: (edits) => replaced(body, encodedEdits(body, edits)),
  }
}

function decoded(body: string): string {
  // Decoding never makes a body longer.
  const bytes = Buffer.allocUnsafe(body.length)
  let length = 0
  scan(body, (code) => {
    bytes[length++] = code
  })
  return bytes.toString('latin1', 0, length)
}

type Put = (code: number, start: number, end: number, lineStart: number) => void

/** Calls `put` with each decoded byte and where it begins and ends in the encoded body. */
function scan(body: string, put: Put): void {
  for (let at = 0; at < body.length; ) {
    const newline = body.indexOf('\n', at)
    const next = newline === -1 ? body.length : newline + 1
    const hasReturn = newline > at && body.charCodeAt(newline - 1) === RETURN
    const lineBreak = newline === -1 ? next : hasReturn ? newline - 1 : newline
    let end = lineBreak
    // RFC 2045 §6.7: white space at the end of a line was added in transit.
    while (end > at && isBlank(body.charCodeAt(end - 1))) end--
    const isSoft = end > at && body.charCodeAt(end - 1) === EQUALS
    const last = isSoft ? end - 1 : end
    for (let i = at; i < last; ) {
      const code = codeAt(body, i, last)
      const length = code === -1 ? 1 : 3
      put(code === -1 ? body.charCodeAt(i) : code, i, i + length, at)
      i += length
    }
    if (!isSoft) for (let i = lineBreak; i < next; i++) put(body.charCodeAt(i), i, i + 1, at)
    at = next
  }
}

const RETURN = 13
const EQUALS = 61
const isBlank = (code: number): boolean => code === 32 || code === 9

/** The byte of `=41`; -1 if there is no such code. */
function codeAt(body: string, at: number, end: number): number {
  if (body.charCodeAt(at) !== EQUALS || at + 3 > end) return -1
  const high = digitOf(body.charCodeAt(at + 1))
  const low = digitOf(body.charCodeAt(at + 2))
  return high === -1 || low === -1 ? -1 : high * 16 + low
}

function digitOf(code: number): number {
  if (code >= 48 && code <= 57) return code - 48
  const lower = code | 32
  return lower >= 97 && lower <= 102 ? lower - 87 : -1
}

/** Edits are in order and do not overlap, so one pass finds all of their positions. */
function encodedEdits(body: string, edits: readonly TextEdit[]): TextEdit[] {
  const end = { start: body.length, end: body.length, column: columnOf(body) }
  const firsts = edits.map(() => end)
  const lasts = edits.map(() => end)
  const wanted = edits.flatMap((edit, index) => [
    { position: edit.start, index, found: firsts },
    // An insertion replaces nothing, so it has no last byte.
    ...(edit.end > edit.start ? [{ position: edit.end - 1, index, found: lasts }] : []),
  ])
  let next = 0
  let position = 0
  scan(body, (_code, start, end, lineStart) => {
    for (let one = wanted[next]; one?.position === position; one = wanted[++next]) {
      one.found[one.index] = { start, end, column: start - lineStart }
    }
    position++
  })
  return edits.map((edit, index) => {
    const { start, column } = firsts[index] ?? end
    const last = edit.end > edit.start ? (lasts[index] ?? end).end : start
    return { start, end: last, text: encodedText(edit.text, column, start === body.length) }
  })
}

const columnOf = (body: string): number => body.length - (body.lastIndexOf('\n') + 1)

function encodedText(added: string, column: number, isEnd: boolean): string {
  // A soft break would make a full line too long, so such a line gets a hard one.
  const lead = column === 0 ? '' : column < COLUMNS ? SOFT_BREAK : '\r\n'
  const trail = isEnd ? '' : SOFT_BREAK
  // One column less: the last line still gets the sign of the soft break.
  const text = libqp.wrap(libqp.encode(Buffer.from(added, 'latin1')), COLUMNS - 1)
  return `${lead}${text}${trail}`
}
