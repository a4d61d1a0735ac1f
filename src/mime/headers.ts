import { joined } from '../lib/shared-bytes.ts'

const LINE_FEED = 10
const CARRIAGE_RETURN = 13

/** Limits of the header of a message that passes the content filter. */
export const MAX_HEADER_BYTES = 256 * 1024
export const MAX_HEADER_LINES = 5000

/** A header field as it is written in a message: all of its lines, with their line breaks. */
export interface HeaderLine {
  /** In lower case. */
  name: string
  /** One character for each byte. */
  line: string
}

export const headersOf = (raw: Buffer): HeaderLine[] =>
  raw
    .toString('latin1', 0, headerEnd(raw))
    .split(/(?<=\n)(?![ \t])/)
    .filter((line) => line !== '')
    .map((line) => ({
      name: line
        .slice(0, Math.max(0, line.indexOf(':')))
        .trim()
        .toLowerCase(),
      line,
    }))

/** The value of the first field of that name, unfolded, one character for each byte. */
export function headerValue(headers: readonly HeaderLine[], name: string): string | undefined {
  const line = headers.find((header) => header.name === name.toLowerCase())?.line
  return line
    ?.slice(line.indexOf(':') + 1)
    .replace(/\r?\n[ \t]+/g, ' ')
    .trim()
}

/** Header lines as the bytes that replace the header block of a message, without the empty line. */
export const headerBlock = (headers: readonly HeaderLine[]): Buffer =>
  Buffer.from(
    headers.map(({ line }) => (line.endsWith('\n') ? line : `${line}\r\n`)).join(''),
    'latin1',
  )

/** The message with other headers and the same body. */
export function withHeaders(raw: Buffer, headers: readonly HeaderLine[]): Promise<Buffer> {
  const end = headerEnd(raw)
  const body = end === raw.length ? Buffer.from('\r\n') : raw.subarray(end)
  return joined([headerBlock(headers), body])
}

/** Returns whether the header is so long that reading it takes more than a few milliseconds. */
export function isHeaderTooLong(raw: Buffer): boolean {
  let lines = 0
  for (let at = 0; at < raw.length; lines++) {
    if (at > MAX_HEADER_BYTES || lines > MAX_HEADER_LINES) return true
    const newline = raw.indexOf(LINE_FEED, at)
    if (newline === -1) return raw.length > MAX_HEADER_BYTES
    const isEmpty = newline === at || (newline === at + 1 && raw[at] === CARRIAGE_RETURN)
    if (isEmpty) return false
    at = newline + 1
  }
  return false
}

/** The offset of the empty line after the header block. */
export function headerEnd(raw: Buffer): number {
  const start = bodyStartOf(raw)
  if (start === undefined) return raw.length
  return raw[start - 2] === CARRIAGE_RETURN ? start - 2 : start - 1
}

/** The offset after the first empty line; undefined if there is none before `end`. */
export function bodyStartOf(raw: Buffer, start = 0, end = raw.length): number | undefined {
  for (let at = start; at < end; ) {
    const newline = raw.indexOf(LINE_FEED, at)
    if (newline === -1 || newline >= end) return undefined
    const isEmpty = newline === at || (newline === at + 1 && raw[at] === CARRIAGE_RETURN)
    if (isEmpty) return newline + 1
    at = newline + 1
  }
  return undefined
}

export const utf8 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('utf8')
