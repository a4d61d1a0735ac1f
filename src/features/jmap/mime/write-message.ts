import { randomUUID } from 'node:crypto'
import { joinedAtOnce } from '../../../lib/shared-bytes.ts'
import { CONVENIENT, type ConvenientName, headerProperty } from './header-forms.ts'
import { fieldLine, folded, parameterText, rfc5322Date } from './write-header.ts'

/** A part of a new message, as RFC 8621 section 4.6 describes it. */
export interface NewPart {
  partId?: string | null
  blobId?: string | null
  type?: string | null
  charset?: string | null
  name?: string | null
  disposition?: string | null
  cid?: string | null
  language?: string[] | null
  location?: string | null
  subParts?: NewPart[] | null
  [header: `header:${string}`]: unknown
}

export interface NewEmail {
  bodyStructure?: NewPart | null
  textBody?: NewPart[] | null
  htmlBody?: NewPart[] | null
  attachments?: NewPart[] | null
  bodyValues?: Record<string, { value: string }> | null
  [property: string]: unknown
}

interface Material {
  bodyValues: Record<string, { value: string }>
  blobs: ReadonlyMap<string, Buffer>
}

/** Writes a message. `domain` is for its Message-ID, `now` for its date, where it names none. */
export function writeMessage(
  email: NewEmail,
  blobs: ReadonlyMap<string, Buffer>,
  { domain, now }: { domain: string; now: string },
): Buffer {
  const lines = headerLines(email)
  const has = (name: string) => lines.some((line) => line.toLowerCase().startsWith(`${name}:`))
  if (!has('message-id')) lines.push(`Message-ID: <${randomUUID()}@${domain}>`)
  if (!has('date')) lines.push(`Date: ${rfc5322Date(now)}`)
  lines.push('MIME-Version: 1.0')
  const material = { bodyValues: email.bodyValues ?? {}, blobs }
  const structure = email.bodyStructure ?? structureOf(email)
  return joinedAtOnce([
    Buffer.from(`${lines.join('\r\n')}\r\n`),
    ...partPieces(structure, material),
  ])
}

function headerLines(email: NewEmail): string[] {
  return Object.entries(email).flatMap(([property, value]) => {
    if (value === null || value === undefined) return []
    if (Object.hasOwn(CONVENIENT, property)) {
      const { name, form } = CONVENIENT[property as ConvenientName]
      return [fieldLine(name, form, value)]
    }
    return property.startsWith('header:') ? namedLines(property, value) : []
  })
}

function namedLines(property: string, value: unknown): string[] {
  const asked = headerProperty(property)
  if (!asked) return []
  const values = asked.all ? (value as unknown[]) : [value]
  return values.map((one) => fieldLine(asked.name, asked.form, one))
}

/** The structure of a message that is given by its bodies and attachments. */
function structureOf({ textBody, htmlBody, attachments }: NewEmail): NewPart {
  const text = textBody?.[0] && { ...textBody[0], type: 'text/plain' }
  const html = htmlBody?.[0] && { ...htmlBody[0], type: 'text/html' }
  const bodies = [text, html].filter((part) => part !== undefined)
  const body: NewPart | undefined =
    bodies.length === 2 ? { type: 'multipart/alternative', subParts: bodies } : bodies[0]
  if (!attachments?.length) return body ?? { type: 'text/plain' }
  const attached = attachments.map((part) => ({
    ...part,
    disposition: part.disposition ?? 'attachment',
  }))
  return { type: 'multipart/mixed', subParts: body ? [body, ...attached] : attached }
}

function partPieces(part: NewPart, material: Material): Buffer[] {
  if (part.subParts) return multipartPieces(part, part.subParts, material)
  const { bytes, type } = contentOf(part, material)
  const lines = [`Content-Type: ${type}`]
  if (part.disposition || part.name) {
    const name = part.name ? parameterText('filename', part.name) : ''
    lines.push(`Content-Disposition: ${token(part.disposition ?? 'attachment')}${name}`)
  }
  if (part.cid) lines.push(`Content-ID: <${clean(part.cid)}>`)
  if (part.language) lines.push(`Content-Language: ${part.language.map(clean).join(', ')}`)
  if (part.location) lines.push(`Content-Location: ${clean(part.location)}`)
  const isPlain = isSevenBit(bytes)
  lines.push(`Content-Transfer-Encoding: ${isPlain ? '7bit' : 'base64'}`)
  const body = isPlain ? bytes : Buffer.from(inLines(bytes.toString('base64')))
  return [Buffer.from(`${headText(part, lines)}\r\n\r\n`), body]
}

function multipartPieces(part: NewPart, subParts: NewPart[], material: Material): Buffer[] {
  const boundary = `=_${randomUUID()}`
  const type = token(part.type ?? 'multipart/mixed')
  const head = headText(part, [`Content-Type: ${type}; boundary="${boundary}"`])
  return [
    Buffer.from(`${head}\r\n\r\n`),
    ...subParts.flatMap((one) => [
      Buffer.from(`--${boundary}\r\n`),
      ...partPieces(one, material),
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]
}

function headText(part: NewPart, lines: string[]): string {
  const named = Object.entries(part).flatMap(([property, value]) =>
    property.startsWith('header:') && value != null ? namedLines(property, value) : [],
  )
  return [...lines.map(folded), ...named].join('\r\n')
}

function contentOf(part: NewPart, { bodyValues, blobs }: Material) {
  if (part.blobId) {
    const type = token(part.type ?? 'application/octet-stream')
    const charset =
      part.charset && type.startsWith('text/') ? `; charset=${token(part.charset)}` : ''
    const name = part.name ? parameterText('name', part.name) : ''
    return { type: `${type}${charset}${name}`, bytes: blobs.get(part.blobId) ?? Buffer.alloc(0) }
  }
  const { value = '' } = bodyValues[part.partId ?? ''] ?? {}
  const bytes = Buffer.from(value.replace(/\r\n|\r|\n/g, '\r\n'))
  return { type: `${token(part.type ?? 'text/plain')}; charset=utf-8`, bytes }
}

const clean = (text: string) => text.replace(/[^\x21-\x7e]/g, '')
const token = (text: string) => text.replace(/[^\w.+/-]/g, '')

/** RFC 5322 section 2.1.1 limits lines to 998 characters. */
function isSevenBit(bytes: Buffer): boolean {
  let column = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte === 10) {
      if (bytes[at - 1] !== 13) return false
      column = 0
    } else if (byte === 13) {
      if (bytes[at + 1] !== 10) return false
    } else if (byte === 0 || byte > 126 || ++column > 990) return false
  }
  return true
}

const inLines = (base64: string) => base64.replace(/.{76}/g, '$&\r\n')
