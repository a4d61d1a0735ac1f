import { decodeWords } from '../../../lib/encoded-words.ts'

const MAX_HEADER_CHARACTERS = 64 * 1024
const MAX_PART_HEADER_CHARACTERS = 8 * 1024
const MAX_VALUE_CHARACTERS = 998
const MAX_BOUNDARIES = 50
const MAX_PARTS = 1000

export interface MessageHead {
  message_id: string | null
  subject: string | null
  from: string | null
  to: string | null
  has_attachments: boolean
}

/**
 * What an event tells of a message: a few of its headers, and whether a part of it is an attachment.
 * Contents are not looked at. Anybody can send a message, so every step is bounded and linear.
 */
export function readHead(eml: string): MessageHead {
  const { headers, end } = readHeaders(eml, 0, MAX_HEADER_CHARACTERS)
  const text = (name: string) => {
    const value = headers.get(name)
    return value === undefined ? null : presentable(decodeWords(value))
  }
  return {
    message_id: presentable(headers.get('message-id') ?? '') || null,
    subject: text('subject'),
    from: text('from'),
    to: text('to'),
    has_attachments: isAttachment(headers) || hasAttachedPart(eml, headers, end),
  }
}

/** The first of each header, unfolded, up to the empty line. */
function readHeaders(eml: string, start: number, limit: number) {
  const headers = new Map<string, string>()
  const stop = Math.min(eml.length, start + limit)
  let position = start
  let name: string | undefined
  while (position < stop) {
    const found = eml.indexOf('\n', position)
    const next = found === -1 || found >= stop ? stop : found + 1
    const line = eml.slice(position, next).replace(/\r?\n$/, '')
    position = next
    if (line === '') break
    if (/^[ \t]/.test(line)) {
      if (name !== undefined) append(headers, name, line)
      continue
    }
    const colon = line.indexOf(':')
    const word = line.slice(0, colon).trimEnd().toLowerCase()
    // Of a header that is there twice, the first counts; what is no header is passed over.
    name = colon > 0 && /^[!-9;-~]{1,76}$/.test(word) && !headers.has(word) ? word : undefined
    if (name !== undefined) headers.set(name, line.slice(colon + 1))
  }
  return { headers, end: position }
}

function append(headers: Map<string, string>, name: string, line: string): void {
  const value = headers.get(name) ?? ''
  if (value.length < 4 * MAX_VALUE_CHARACTERS) headers.set(name, value + line)
}

const presentable = (text: string): string =>
  text
    .replace(/[\s\x00-\x1f\x7f]+/g, ' ')
    .trim()
    .slice(0, MAX_VALUE_CHARACTERS)
    .toWellFormed()

const isAttachment = (headers: Map<string, string>): boolean =>
  /^\s*attachment\b/i.test(headers.get('content-disposition') ?? '')

/** Looks only where a part may begin: at the lines that are a boundary. */
function hasAttachedPart(eml: string, headers: Map<string, string>, start: number): boolean {
  const boundaries = new Set<string>()
  const learn = (found: Map<string, string>) => {
    const boundary = boundaryOf(found.get('content-type') ?? '')
    if (boundary !== undefined && boundaries.size < MAX_BOUNDARIES) boundaries.add(boundary)
  }
  learn(headers)
  let parts = 0
  let position = eml.startsWith('--', start) ? start : nextDashes(eml, start)
  while (position !== -1 && boundaries.size > 0 && parts < MAX_PARTS) {
    const found = eml.indexOf('\n', position)
    if (found === -1) return false
    const line = eml.slice(position + 2, Math.min(found, position + 202)).trimEnd()
    if (boundaries.has(line)) {
      parts++
      const part = readHeaders(eml, found + 1, MAX_PART_HEADER_CHARACTERS).headers
      if (isAttachment(part)) return true
      learn(part)
    }
    position = nextDashes(eml, found)
  }
  return false
}

function nextDashes(eml: string, from: number): number {
  const found = eml.indexOf('\n--', from)
  return found === -1 ? -1 : found + 1
}

function boundaryOf(contentType: string): string | undefined {
  if (!/^\s*multipart\//i.test(contentType)) return undefined
  const [, quoted, plain] =
    /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType) ?? []
  return (quoted ?? plain)?.trimEnd()
}
