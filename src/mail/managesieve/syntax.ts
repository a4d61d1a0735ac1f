/** A token of an answer: a string, an atom, or a bracket around a response code. */
export type Token =
  | { kind: 'string'; text: string }
  | { kind: 'atom'; text: string }
  | { kind: 'open' | 'close' }

export interface Answer {
  status: 'OK' | 'NO' | 'BYE'
  /** RFC 5804 §1.3, in upper case, such as `QUOTA/MAXSIZE`; empty when the server sent none. */
  code: string
  text: string
}

// RFC 5804 §4 lets a server refuse longer quoted strings; they are sent as literals.
const MAX_QUOTED_BYTES = 1000

/** Tokenizes one line. If it announces a literal, the caller reads the literal. */
export function tokensOf(line: string): { tokens: Token[]; literalBytes: number | undefined } {
  const tokens: Token[] = []
  const pattern = /\s*(?:"((?:[^"\\]|\\.)*)"|([()])|\{(\d{1,9})\+?\}$|([^\s"(){}]+))/y
  let at = 0
  while (line.slice(at).trim() !== '') {
    pattern.lastIndex = at
    const match = pattern.exec(line)
    if (!match) throw new Error('the server does not speak ManageSieve')
    at = pattern.lastIndex
    const [, quoted, bracket, length, atom] = match
    if (length !== undefined) return { tokens, literalBytes: Number(length) }
    if (quoted !== undefined) {
      tokens.push({ kind: 'string', text: quoted.replace(/\\(.)/g, '$1') })
    } else if (bracket !== undefined) {
      tokens.push({ kind: bracket === '(' ? 'open' : 'close' })
    } else if (atom !== undefined) tokens.push({ kind: 'atom', text: atom })
  }
  return { tokens, literalBytes: undefined }
}

/** Returns undefined for a data line, which precedes the answer. */
export function answerOf([first, ...rest]: Token[]): Answer | undefined {
  if (first?.kind !== 'atom' || !/^(OK|NO|BYE)$/i.test(first.text)) return undefined
  const status = first.text.toUpperCase() as Answer['status']
  let code = ''
  if (rest[0]?.kind === 'open') {
    const end = rest.findIndex(({ kind }) => kind === 'close')
    const [name] = rest.splice(0, end === -1 ? rest.length : end + 1).slice(1)
    if (name?.kind === 'atom') code = name.text.toUpperCase()
  }
  const [text] = rest
  return { status, code, text: text?.kind === 'string' ? text.text : '' }
}

/** Encodes a string as RFC 5804 §1.2 requires: quoted if possible, otherwise as a literal. */
export function encoded(text: string): string {
  const bytes = Buffer.byteLength(text)
  return bytes > MAX_QUOTED_BYTES || /[\r\n\0]/.test(text)
    ? `{${bytes}+}\r\n${text}`
    : `"${text.replace(/[\\"]/g, '\\$&')}"`
}
