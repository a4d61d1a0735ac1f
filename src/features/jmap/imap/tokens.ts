/** A value in a response of an IMAP server: atom, string, NIL or list. */
export type Token = string | Buffer | null | Token[]

const MAX_DEPTH = 60

/**
 * Reads the values of a response whose literals were cut out (see `wire`): `{n}` in the text stands
 * for the next literal. Strings stay as they are; a literal is a Buffer.
 */
export function readTokens(text: string, literals: readonly Uint8Array[]): Token[] {
  let at = 0
  let nextLiteral = 0

  function list(depth: number): Token[] {
    if (depth > MAX_DEPTH) throw new Error('the response is nested too deeply')
    const values: Token[] = []
    while (at < text.length) {
      const character = text[at]
      if (character === ' ') at++
      else if (character === ')') {
        at++
        return values
      } else if (character === '(') {
        at++
        values.push(list(depth + 1))
      } else if (character === '"') values.push(quotedString())
      else if (character === '{') values.push(literal())
      else values.push(atom())
    }
    return values
  }

  function quotedString(): string {
    let value = ''
    for (at++; at < text.length && text[at] !== '"'; at++) {
      if (text[at] === '\\') at++
      value += text[at] ?? ''
    }
    at++
    return value
  }

  function literal(): Buffer {
    at = text.indexOf('}', at) + 1 || text.length
    const bytes = literals[nextLiteral++] ?? new Uint8Array()
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** `BODY[HEADER.FIELDS (From)]<0>` is one atom. */
  function atom(): string | null {
    const start = at
    let brackets = 0
    for (; at < text.length; at++) {
      const character = text[at]
      if (character === '[') brackets++
      else if (character === ']') brackets--
      else if (brackets <= 0 && (character === ' ' || character === '(' || character === ')')) break
    }
    const value = text.slice(start, at)
    return value.toUpperCase() === 'NIL' ? null : value
  }

  return list(0)
}

export const textOfToken = (token: Token | undefined): string => {
  if (token === null || token === undefined || Array.isArray(token)) return ''
  return typeof token === 'string' ? token : token.toString('utf8')
}

export const listOf = (token: Token | undefined): Token[] => (Array.isArray(token) ? token : [])

/** `name value name value` as a map; names in upper case. */
export function pairsOf(tokens: readonly Token[]): Map<string, Token> {
  const pairs = new Map<string, Token>()
  for (let at = 0; at + 1 < tokens.length; at += 2) {
    pairs.set(textOfToken(tokens[at]).toUpperCase(), tokens[at + 1] ?? null)
  }
  return pairs
}
