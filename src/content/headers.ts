const LINE_END = Buffer.from('\r\n')
const BODY_START = Buffer.from('\r\n\r\n')

/** A header as it stands in a message: all its lines, without the last line end. */
export interface Header {
  /** In lower case. */
  name: string
  line: string
}

/** Bytes, one character each: what is not ASCII stays as it is. */
export const headersOf = (raw: Buffer): Header[] =>
  raw
    .toString('latin1', 0, headerEnd(raw))
    .split(/\r\n(?![ \t])/)
    .filter((line) => line !== '')
    .map((line) => ({
      name: line
        .slice(0, Math.max(0, line.indexOf(':')))
        .trim()
        .toLowerCase(),
      line,
    }))

/** Unfolded, of the first header of that name. */
export function headerValue(headers: readonly Header[], name: string): string | undefined {
  const line = headers.find((header) => header.name === name.toLowerCase())?.line
  return line
    ?.slice(line.indexOf(':') + 1)
    .replace(/\r\n[ \t]+/g, ' ')
    .trim()
}

/** The message with other headers; its body is not copied more often than it must be. */
export function withHeaders(raw: Buffer, headers: readonly Header[]): Buffer {
  const head = headers.map(({ line }) => `${line}\r\n`).join('')
  const end = headerEnd(raw)
  const body = end === raw.length ? LINE_END : raw.subarray(end)
  return Buffer.concat([Buffer.from(head, 'latin1'), body])
}

/** Where the empty line begins that ends them. */
function headerEnd(raw: Buffer): number {
  if (raw.subarray(0, 2).equals(LINE_END)) return 0
  const at = raw.indexOf(BODY_START)
  return at === -1 ? raw.length : at + 2
}
