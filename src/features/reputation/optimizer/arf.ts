import { type Header, headersOf, headerValue } from '../../../content/headers.ts'
import { decodeWords } from '../../../lib/encoded-words.ts'

/** What a provider says about a complaint, in the Abuse Reporting Format (RFC 5965). */
export interface FeedbackReport {
  feedback_type: string
  reporter: string | undefined
  /** Where the report was sent. */
  complaint_recipient: string | undefined
  original_recipient: string | undefined
  original_sender: string | undefined
  email_id: string | undefined
  subject: string | undefined
}

const MAX_PARTS = 20
const MAX_ADDRESS = 254
const ORIGINALS = ['message/rfc822', 'text/rfc822-headers', 'message/rfc822-headers']

/** Undefined when it is no such report. Only its outermost parts are looked at. */
export function parseFeedbackReport(text: string): FeedbackReport | undefined {
  const raw = Buffer.from(text.replace(/\r?\n/g, '\r\n').replaceAll('\0', ''))
  const outer = headersOf(raw)
  const boundary = boundaryOf(headerValue(outer, 'content-type') ?? '')
  if (boundary === undefined) return undefined
  const parts = partsOf(raw, boundary).map((part) => ({ part, headers: headersOf(part) }))
  const typed = (types: string[]) =>
    parts.find(({ headers }) => types.includes(typeOf(headers)))?.part
  const report = typed(['message/feedback-report'])
  if (!report) return undefined
  const fields = headersOf(bodyOf(report))
  const type = headerValue(fields, 'feedback-type')?.toLowerCase()
  if (type === undefined || !/^[a-z][a-z0-9-]{0,49}$/.test(type)) return undefined
  const original = typed(ORIGINALS)
  const mail = original ? headersOf(bodyOf(original)) : []
  const address = (headers: Header[], name: string) => addressIn(headerValue(headers, name))
  return {
    feedback_type: type,
    reporter: address(outer, 'from'),
    complaint_recipient: address(outer, 'to'),
    original_recipient: address(fields, 'original-rcpt-to') ?? address(mail, 'to'),
    original_sender: address(fields, 'original-mail-from') ?? address(mail, 'from'),
    email_id: headerValue(mail, 'message-id')?.replace(/^<|>$/g, '').slice(0, 255) || undefined,
    subject: subjectOf(mail),
  }
}

const typeOf = (headers: Header[]): string =>
  (headerValue(headers, 'content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

function boundaryOf(contentType: string): string | undefined {
  if (!/^multipart\/report\s*;/i.test(contentType)) return undefined
  const [, quoted, plain] =
    /boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i.exec(contentType) ?? []
  return quoted ?? plain
}

function partsOf(raw: Buffer, boundary: string): Buffer[] {
  const mark = Buffer.from(`\r\n--${boundary}`)
  const parts: Buffer[] = []
  let at = raw.indexOf(mark)
  while (at !== -1 && parts.length < MAX_PARTS) {
    const start = raw.indexOf('\r\n', at + mark.length)
    const next = start === -1 ? -1 : raw.indexOf(mark, start)
    if (start === -1) break
    parts.push(raw.subarray(start + 2, next === -1 ? raw.length : next))
    at = next
  }
  return parts
}

function bodyOf(part: Buffer): Buffer {
  if (part.subarray(0, 2).toString() === '\r\n') return part.subarray(2)
  const at = part.indexOf('\r\n\r\n')
  return at === -1 ? Buffer.alloc(0) : part.subarray(at + 4)
}

/** The address in angle brackets, or all of it; providers may have replaced it by something else. */
function addressIn(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const open = value.lastIndexOf('<')
  const bare =
    open === -1
      ? value.trim()
      : value
          .slice(open + 1)
          .split('>', 1)[0]
          ?.trim()
  if (!bare || bare.length > MAX_ADDRESS) return undefined
  return /^[^\s@<>]+@[^\s@<>]+$/.test(bare) ? utf8(bare).toLowerCase() : undefined
}

function subjectOf(mail: Header[]): string | undefined {
  const subject = headerValue(mail, 'subject')
  return subject === undefined ? undefined : decodeWords(utf8(subject)).slice(0, 1000)
}

const utf8 = (bytes: string) => Buffer.from(bytes, 'latin1').toString('utf8')
