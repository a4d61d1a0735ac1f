import { type Decoded, type Edit, replaced } from './edits.ts'

const COLUMNS = 76
const SOFT_BREAK = '=\r\n'

/** Only the pieces that change are written anew; everything else stays byte for byte. */
export function quotedPrintable(body: string): Decoded {
  const { text, starts, ends } = decoded(body)
  return {
    text,
    write: (edits) =>
      replaced(
        body,
        edits.map((edit) => encodedEdit(body, edit, starts, ends)),
      ),
  }
}

/** With the place of each character in the encoded text. */
function decoded(body: string) {
  const characters: string[] = []
  const starts: number[] = []
  const ends: number[] = []
  const put = (character: string, start: number, end: number) => {
    characters.push(character)
    starts.push(start)
    ends.push(end)
  }
  for (let at = 0; at < body.length; ) {
    const newline = body.indexOf('\n', at)
    const next = newline === -1 ? body.length : newline + 1
    const lineBreak =
      newline === -1 ? '' : body[newline - 1] === '\r' && newline > at ? '\r\n' : '\n'
    let end = next - lineBreak.length
    // Spaces at the end of a line come from the way, not from the sender.
    while (end > at && (body[end - 1] === ' ' || body[end - 1] === '\t')) end--
    const isSoft = end > at && body[end - 1] === '='
    const last = isSoft ? end - 1 : end
    for (let i = at; i < last; ) {
      const code = /^=[0-9A-Fa-f]{2}/.test(body.slice(i, Math.min(i + 3, last)))
      const length = code ? 3 : 1
      const value = code
        ? String.fromCharCode(Number.parseInt(body.slice(i + 1, i + 3), 16))
        : (body[i] as string)
      put(value, i, i + length)
      i += length
    }
    if (!isSoft)
      for (const [i, one] of [...lineBreak].entries()) {
        const place = next - lineBreak.length + i
        put(one, place, place + 1)
      }
    at = next
  }
  return { text: characters.join(''), starts, ends }
}

function encodedEdit(body: string, edit: Edit, starts: number[], ends: number[]): Edit {
  const start = starts[edit.start] ?? body.length
  const end = edit.end > edit.start ? (ends[edit.end - 1] as number) : start
  const before = start - (body.lastIndexOf('\n', start - 1) + 1)
  const isLast = start === body.length
  // A line that is full already can only be ended for good; so can the last one.
  const lead = before === 0 ? '' : before < COLUMNS ? SOFT_BREAK : '\r\n'
  return { start, end, text: lead + encoded(edit.text) + (isLast ? '' : SOFT_BREAK) }
}

function encoded(text: string): string {
  const lines: string[] = []
  let line = ''
  for (const character of text) {
    const unit = /[A-Za-z0-9<>"'/:;.,_?%&#-]/.test(character)
      ? character
      : `=${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
    if (line.length + unit.length > COLUMNS - 1) {
      lines.push(line)
      line = ''
    }
    line += unit
  }
  return [...lines, line].join(SOFT_BREAK)
}
