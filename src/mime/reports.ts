import { type HeaderLine, headersOf, headerValue, utf8 } from './headers.ts'
import { MimeMessage } from './message.ts'
import type { Part } from './structure.ts'

/** A complaint of a mailbox provider in the Abuse Reporting Format (RFC 5965). */
interface FeedbackReport {
  feedback_type: string
  reporter: string | undefined
  /** The recipient of the report. */
  complaint_recipient: string | undefined
  original_recipient: string | undefined
  original_sender: string | undefined
  email_id: string | undefined
  subject: string | undefined
}

/** The types of a part with the message that a report is about, or with its headers. */
const ORIGINALS = new Set([
  'message/rfc822',
  'message/global',
  'text/rfc822-headers',
  'message/rfc822-headers',
])

/** Undefined if the message is not a feedback report. Reports in attached messages do not count. */
export function readFeedbackReport(message: MimeMessage): FeedbackReport | undefined {
  const { parts, root } = message.structure
  if (root.node.multipart !== 'report') return undefined
  const outermost = parts.filter(({ within }) => within.length === 1)
  const report = outermost.find(({ node }) => node.contentType === 'message/feedback-report')
  if (!report) return undefined
  const fields = new MimeMessage(report.body)
  const type = fields.fields('feedback-type')[0]?.toLowerCase()
  if (type === undefined || !/^[a-z][a-z0-9-]{0,49}$/.test(type)) return undefined
  const original = new MimeMessage(outermost.find(isOriginal)?.body ?? Buffer.alloc(0))
  const address = (from: MimeMessage, name: string) => reportedAddress(from.fields(name)[0])
  return {
    feedback_type: type,
    reporter: address(message, 'from'),
    complaint_recipient: address(message, 'to'),
    original_recipient: address(fields, 'original-rcpt-to') ?? address(original, 'to'),
    original_sender: address(fields, 'original-mail-from') ?? address(original, 'from'),
    email_id: original.fields('message-id')[0]?.replace(/^<|>$/g, '').slice(0, 255) || undefined,
    subject: original.fields('subject')[0]?.slice(0, 1000),
  }
}

const isOriginal = ({ node }: Part): boolean => ORIGINALS.has(node.contentType || '')

const MAX_REPORTED_ADDRESS = 254

/** The address in angle brackets, or the whole value. Providers may have redacted it. */
function reportedAddress(value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  const open = value.lastIndexOf('<')
  const bare = open === -1 ? value : (value.slice(open + 1).split('>', 1)[0] ?? '').trim()
  if (bare.length > MAX_REPORTED_ADDRESS) return undefined
  return /^[^\s@<>]+@[^\s@<>]+$/.test(bare) ? bare.toLowerCase() : undefined
}

/** A report that mail was not delivered (RFC 3464), or a message in words that says so. */
interface DeliveryReport {
  failures: FailedDelivery[]
  envelopeId: string | undefined
  /** Fields of the message that was returned. */
  original: { messageId: string | undefined; listUnsubscribe: string | undefined }
}

export interface FailedDelivery {
  recipient: string
  /** Empty if the report names none. */
  status: string
  diagnostic: string
}

const MAX_FAILURES = 100
const MAX_TEXT = 64 * 1024
const MAX_ADDRESS = 255

/** Recipients come from the report, never from its To, which is the sender of the original. */
export function readDeliveryReport(message: MimeMessage): DeliveryReport {
  const { parts } = message.structure
  const report = parts.find(({ node }) => node.contentType === 'message/delivery-status')
  const [ofMessage = [], ...ofRecipients] = report ? fieldGroups(report) : []
  const returned = parts.find(isOriginal)
  const original = returned ? headersOf(Buffer.from(reportText(returned).trimStart())) : []
  return {
    failures: report
      ? ofRecipients.flatMap(failureIn).slice(0, MAX_FAILURES)
      : failuresInWords(message),
    envelopeId: field(ofMessage, 'original-envelope-id'),
    original: {
      messageId: /<([^<>\s]+)>/.exec(field(original, 'message-id') ?? '')?.[1],
      listUnsubscribe: field(original, 'list-unsubscribe'),
    },
  }
}

const field = (headers: readonly HeaderLine[], name: string): string | undefined => {
  const value = headerValue(headers, name)
  return value && utf8(value)
}

/** The first group is about the message, then one for each recipient; empty lines separate them. */
const fieldGroups = (report: Part): HeaderLine[][] =>
  reportText(report)
    .trim()
    .split(/\n(?:[ \t]*\n)+/)
    .map((group) => headersOf(Buffer.from(group)))

const reportText = ({ body }: Part): string =>
  body.subarray(0, MAX_TEXT).toString('utf8').replaceAll('\r\n', '\n').replaceAll('\0', '')

/** The original recipient is preferred: forwarded mail fails at another address. */
function failureIn(group: readonly HeaderLine[]): FailedDelivery[] {
  const recipient =
    addressIn(field(group, 'original-recipient')) ?? addressIn(field(group, 'final-recipient'))
  if (!recipient || field(group, 'action')?.toLowerCase() !== 'failed') return []
  const diagnostic = (field(group, 'diagnostic-code') ?? '').replace(/^[\w-]+;\s*/, '')
  return [{ recipient, status: field(group, 'status') ?? '', diagnostic }]
}

function addressIn(text: string | undefined): string | undefined {
  const address = /^(?:[\w-]+;)?\s*<?([^\s<>;]+@[^\s<>;]+)>?/.exec(text ?? '')?.[1]
  return address !== undefined && address.length <= MAX_ADDRESS ? address.toLowerCase() : undefined
}

/** Hosts without reports name the recipients in a header and the reason in their text. */
function failuresInWords(message: MimeMessage): FailedDelivery[] {
  const recipients = message.fields('x-failed-recipients').join(',').split(',')
  const text = message.structure.parts.find(
    ({ node }) => !node.contentType || node.contentType === 'text/plain',
  )
  const lines = text ? reportText(text).split('\n') : []
  const reason = lines.find((line) => /\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b/.test(line))
  const diagnostic = (reason ?? lines[0] ?? '').trim()
  return recipients.slice(0, MAX_FAILURES).flatMap((one) => {
    const recipient = addressIn(one.trim())
    return recipient ? [{ recipient, status: '', diagnostic }] : []
  })
}
