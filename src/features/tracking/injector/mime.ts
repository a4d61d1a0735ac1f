const MAX_DEPTH = 30
const MAX_PARTS = 1000

export interface Header {
  /** In lower case. */
  name: string
  /** In one line; bytes as characters. */
  value: string
  start: number
  end: number
}

/** A message or a part of one, told by where its bytes are. */
export interface Entity {
  headers: Header[]
  /** Where the empty line after the headers begins, and where the body does. */
  headersEnd: number
  bodyStart: number
  end: number
  type: string
  parameters: Map<string, string>
  parts: Entity[]
}

/**
 * Where everything is in a message. The text holds one character for each byte. Undefined for what is
 * no message, or so strange that two programs would read two messages in it.
 */
export function parseMessage(text: string): Entity | undefined {
  const budget = { parts: MAX_PARTS }
  const message = parseEntity(text, 0, text.length, 0, budget)
  return budget.parts < 0 ? undefined : message
}

function parseEntity(
  text: string,
  start: number,
  end: number,
  depth: number,
  budget: { parts: number },
): Entity | undefined {
  if (--budget.parts < 0 || depth > MAX_DEPTH) {
    budget.parts = -1
    return undefined
  }
  const headers: Header[] = []
  let at = start
  for (;;) {
    if (at >= end) return undefined
    const next = lineEnd(text, at, end)
    const line = text.slice(at, next)
    if (line === '\r\n' || line === '\n') {
      const content = contentOf(headers)
      const entity = { headers, headersEnd: at, bodyStart: next, end, ...content, parts: [] }
      return withParts(text, entity, depth, budget)
    }
    const last = headers.at(-1)
    if (/^[ \t]/.test(line) && last) {
      last.value += line.replace(/[\r\n]+$/, '')
      last.end = next
    } else {
      const colon = line.indexOf(':')
      const name = line.slice(0, colon).replace(/[ \t]+$/, '')
      if (colon < 1 || !/^[\x21-\x39\x3b-\x7e]+$/.test(name)) return undefined
      const value = line.slice(colon + 1).trim()
      headers.push({ name: name.toLowerCase(), value, start: at, end: next })
    }
    at = next
  }
}

const lineEnd = (text: string, from: number, end: number): number => {
  const newline = text.indexOf('\n', from)
  return newline === -1 || newline >= end ? end : newline + 1
}

export const headerOf = ({ headers }: Entity, name: string): string | undefined =>
  headers.find((header) => header.name === name)?.value

/** Two headers that say what a part is are as good as none: nobody knows which one counts. */
function contentOf(headers: Header[]): Pick<Entity, 'type' | 'parameters'> {
  const said = headers.filter(({ name }) => name === 'content-type')
  if (said.length > 1) return { type: 'unknown', parameters: new Map() }
  if (said.length === 0) return { type: 'text/plain', parameters: new Map() }
  return parseValue(said[0]?.value ?? '')
}

const PARAMETER = /;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g

/** `text/html; charset="utf-8"` and the like. */
export function parseValue(value: string): { type: string; parameters: Map<string, string> } {
  const type = /^\s*([^\s;()"]+)/.exec(value)?.[1]?.toLowerCase() ?? 'unknown'
  const parameters = new Map<string, string>()
  for (const [, name = '', quoted, plain] of value.matchAll(PARAMETER)) {
    const known = name.toLowerCase()
    if (!parameters.has(known)) {
      parameters.set(known, quoted?.replace(/\\(.)/g, '$1') ?? plain ?? '')
    }
  }
  return { type, parameters }
}

function withParts(text: string, entity: Entity, depth: number, budget: { parts: number }): Entity {
  const boundary = entity.parameters.get('boundary')
  if (!entity.type.startsWith('multipart/') || !boundary) return entity
  for (const [from, to] of partsOf(text, entity, `--${boundary}`)) {
    const part = parseEntity(text, from, to, depth + 1, budget)
    if (part) entity.parts.push(part)
  }
  return entity
}

const AFTER_BOUNDARY = /^(--)?[ \t]*\r?\n?$/

/** Between the lines that begin with the boundary and have nothing but spaces behind it. */
function* partsOf(text: string, { bodyStart, end }: Entity, delimiter: string) {
  let from: number | undefined
  for (let at = text.indexOf(delimiter, bodyStart); at !== -1 && at < end; ) {
    const isLineStart = at === bodyStart || text[at - 1] === '\n'
    const next = isLineStart ? lineEnd(text, at, end) : at + delimiter.length
    const rest = isLineStart && AFTER_BOUNDARY.exec(text.slice(at + delimiter.length, next))
    if (rest) {
      if (from !== undefined) yield [from, beforeBreak(text, from, at)] as const
      if (rest[1]) return
      from = next
    }
    at = text.indexOf(delimiter, next)
  }
  if (from !== undefined) yield [from, end] as const
}

/** The line break before a boundary belongs to the boundary. */
const beforeBreak = (text: string, from: number, at: number): number => {
  if (at > from && text[at - 1] === '\n') at--
  return at > from && text[at - 1] === '\r' ? at - 1 : at
}
