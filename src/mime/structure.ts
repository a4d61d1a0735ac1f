import { MimeNode } from '@zone-eu/mailsplit'
import libmime from 'libmime'
import { bodyStartOf } from './headers.ts'

const MAX_HEAD = 512 * 1024
const MAX_PARTS = 500
const MAX_DEPTH = 40

/** A part of a message and its byte offsets. Attached messages are one part: they never change. */
export interface Part {
  node: MimeNode
  /** The offset of its header. */
  start: number
  bodyStart: number
  /** The end of its body; the line break before a boundary belongs to the boundary. */
  end: number
  /** The body as sent, with its transfer encoding. Empty for a multipart. */
  body: Buffer
  /** The multiparts that contain it, outermost first. */
  within: readonly MimeNode[]
}

export interface Structure {
  root: Part
  /** All parts in the order of the message, with the root and the multiparts. */
  parts: readonly Part[]
  /** The reason why the parts were not read, if so; the root is then the only part. */
  unread: string | undefined
  /** False if the header is cut off by its size limit. */
  isHeaderComplete: boolean
}

class Unreadable extends Error {}

/**
 * Finds the parts of a message in linear time. mailsplit reads and writes the header of each part.
 * Its Splitter is not used: it drops the header of a part that has no empty line, does not accept
 * spaces after a boundary (RFC 2046 §5.1.1) and reports no offsets, which edits need.
 */
export function readStructure(raw: Buffer): Structure {
  const parts: Part[] = []
  try {
    const root = readPart(raw, { start: 0, end: raw.length, limit: raw.length }, [], parts)
    return { root, parts, unread: undefined, isHeaderComplete: true }
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return rootOnly(raw, error.message)
  }
}

interface Range {
  start: number
  end: number
  /** The offset of the next boundary. An empty line directly before it still ends the header. */
  limit: number
}

function readPart(
  raw: Buffer,
  { start, end, limit }: Range,
  within: readonly MimeNode[],
  parts: Part[],
): Part {
  if (parts.length >= MAX_PARTS) throw new Unreadable('There are too many parts')
  if (within.length > MAX_DEPTH) throw new Unreadable('Parts are nested too deeply')
  const bodyStart = bodyStartOf(raw, start, limit) ?? end
  if (bodyStart - start > MAX_HEAD) throw new Unreadable('A header is too long')
  const node = nodeOf(raw.subarray(start, bodyStart))
  const part = partOf(raw, node, { start, bodyStart, end: Math.max(bodyStart, end) }, within)
  parts.push(part)
  const boundary = node.multipart ? boundaryOf(node) : ''
  if (boundary !== '') {
    for (const range of rangesBetween(raw, bodyStart, part.end, `--${boundary}`)) {
      readPart(raw, range, [...within, node], parts)
    }
  }
  return part
}

function partOf(
  raw: Buffer,
  node: MimeNode,
  offsets: Pick<Part, 'start' | 'bodyStart' | 'end'>,
  within: readonly MimeNode[],
): Part {
  const body = raw.subarray(offsets.bodyStart, node.multipart ? offsets.bodyStart : offsets.end)
  return { node, ...offsets, body, within }
}

/** The header of a part, read by mailsplit. */
export function nodeOf(header: Buffer): MimeNode {
  const node = new MimeNode(false, {})
  node.addHeaderChunk(header)
  node.parseHeaders()
  return node
}

function boundaryOf({ headers }: MimeNode): string {
  const contentType = headers ? headers.getFirst('content-type') : ''
  return (libmime.parseHeaderValue(contentType).params.boundary ?? '').trimEnd()
}

const AFTER_BOUNDARY = /^(--)?[ \t]*\r?\n?$/

/** The ranges between lines that consist of the delimiter and optional spaces. */
function* rangesBetween(raw: Buffer, from: number, to: number, delimiter: string) {
  const { length } = Buffer.from(delimiter)
  let start: number | undefined
  for (let at = raw.indexOf(delimiter, from); at !== -1 && at < to; ) {
    const isLineStart = at === from || raw[at - 1] === 10
    const next = isLineStart ? lineEnd(raw, at, to) : at + length
    const rest = isLineStart && AFTER_BOUNDARY.exec(raw.toString('latin1', at + length, next))
    if (rest) {
      if (start !== undefined) yield { start, end: beforeLineBreak(raw, start, at), limit: at }
      if (rest[1]) return
      start = next
    }
    at = raw.indexOf(delimiter, next)
  }
  if (start !== undefined) yield { start, end: to, limit: to }
}

function lineEnd(raw: Buffer, from: number, end: number): number {
  const newline = raw.indexOf(10, from)
  return newline === -1 || newline >= end ? end : newline + 1
}

function beforeLineBreak(raw: Buffer, start: number, at: number): number {
  let end = at
  if (end > start && raw[end - 1] === 10) end--
  if (end > start && raw[end - 1] === 13) end--
  return end
}

function rootOnly(raw: Buffer, unread: string): Structure {
  const start = bodyStartOf(raw, 0, Math.min(raw.length, MAX_HEAD))
  const bodyStart = start ?? Math.min(raw.length, MAX_HEAD)
  const node = nodeOf(raw.subarray(0, bodyStart))
  const root = partOf(raw, node, { start: 0, bodyStart, end: raw.length }, [])
  return { root, parts: [root], unread, isHeaderComplete: start !== undefined }
}
