import { isAscii } from 'node:buffer'

const NEWLINE = '\n'
const MAX_LINE_BYTES = 64 * 1024
const UNUSUAL = /[\0\x80-\xff]/

/** The lines of a portion of a log. Only lines that are not plain ASCII are decoded as UTF-8. */
export function* linesOf(bytes: Buffer): Iterable<string> {
  const text = bytes.toString('latin1')
  const isPlain = isAscii(bytes) && !bytes.includes(0)
  for (let start = 0; start < text.length; ) {
    const newline = text.indexOf(NEWLINE, start)
    const end = newline === -1 ? text.length : newline
    // Postfix writes no longer lines, so longer ones are skipped.
    if (end - start <= MAX_LINE_BYTES) {
      const line = text.slice(start, end)
      yield isPlain ? line : decoded(line)
    }
    start = end + 1
  }
}

/** Invalid UTF-8 and NUL, which PostgreSQL rejects, become U+FFFD. */
const decoded = (line: string): string =>
  UNUSUAL.test(line)
    ? Buffer.from(line, 'latin1').toString('utf8').replaceAll('\0', '\ufffd')
    : line
