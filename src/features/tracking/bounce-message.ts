import { fieldsOf } from '../../content/message.ts'
import { type Part, splitMessage } from '../../content/split.ts'
import { type BounceType, bounceType } from '../mail-log/bounce-type.ts'

const MAX_RECIPIENTS = 100
const MAX_TEXT = 64 * 1024
const MAX_ADDRESS = 255

/** Somebody whom a message did not reach. */
export interface Bounced {
  recipient: string
  bounce_type: BounceType
  bounce_reason: string
}

export interface BounceMessage {
  bounced: Bounced[]
  /** What the message that came back says about itself. */
  email_id: string | undefined
  tracking_id: string | undefined
}

/**
 * Reads a report of another mail host (RFC 3464). Whom it is about stands in the report, never in
 * its To, which is whoever has sent the message. What was only delayed has not bounced.
 */
export async function readBounce(raw: Buffer): Promise<BounceMessage> {
  const { parts, root } = await splitMessage(raw)
  const report = parts.find(({ node }) => node.contentType === 'message/delivery-status')
  const [ofMessage, ...ofRecipients] = report ? groupsOf(report) : []
  const returned = parts.find(({ node }) => RETURNED.has(String(node.contentType)))
  const headers = returned ? headOf(returned) : new Map<string, string>()
  const unsubscribe = headers.get('list-unsubscribe') ?? ''
  return {
    bounced: report ? ofRecipients.flatMap(failed).slice(0, MAX_RECIPIENTS) : inWords(root, parts),
    email_id: /<([^<>\s]+)>/.exec(headers.get('message-id') ?? '')?.[1],
    tracking_id:
      /\/tracking\/unsubscribe\/([\w-]+)/.exec(unsubscribe)?.[1] ??
      ofMessage?.get('original-envelope-id'),
  }
}

const RETURNED = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/global',
  'message/rfc822-headers',
])

type Fields = Map<string, string>

/** Fields in groups with empty lines between them: one about the message, then one for each recipient. */
const groupsOf = ({ body }: Part): Fields[] =>
  textOf(body)
    .trim()
    .split(/\n(?:[ \t]*\n)+/)
    .map(readFields)

const headOf = ({ body }: Part): Fields =>
  readFields(
    textOf(body)
      .trimStart()
      .split(/\n[ \t]*\n/)[0] ?? '',
  )

const textOf = (body: Buffer): string =>
  body.subarray(0, MAX_TEXT).toString('utf8').replaceAll('\r\n', '\n').replaceAll('\0', '')

/** The first field of a name counts. */
function readFields(text: string): Fields {
  const fields: Fields = new Map()
  for (const line of text.replace(/\n[ \t]+/g, ' ').split('\n')) {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/.exec(line) ?? []
    if (name && value && !fields.has(name.toLowerCase())) {
      fields.set(name.toLowerCase(), value.trim())
    }
  }
  return fields
}

/** The address we wrote to, when the host says so; a forwarded message fails somewhere else. */
function failed(fields: Fields): Bounced[] {
  const recipient =
    addressIn(fields.get('original-recipient')) ?? addressIn(fields.get('final-recipient'))
  if (!recipient || fields.get('action')?.toLowerCase() !== 'failed') return []
  const status = fields.get('status') ?? ''
  const said = (fields.get('diagnostic-code') ?? '').replace(/^[\w-]+;\s*/, '')
  return [
    { recipient, bounce_type: typeOf(status, said), bounce_reason: said || status || 'failed' },
  ]
}

function addressIn(field: string | undefined): string | undefined {
  const address = /^(?:[\w-]+;)?\s*<?([^\s<>;]+@[^\s<>;]+)>?/.exec(field ?? '')?.[1]
  return address !== undefined && address.length <= MAX_ADDRESS ? address.toLowerCase() : undefined
}

/** Hosts that send no report still name the recipients in a field, and the reason in their text. */
function inWords(root: Part, parts: readonly Part[]): Bounced[] {
  const named = fieldsOf(root.node, 'x-failed-recipients').join(',').split(',')
  const text = parts.find(({ node }) => !node.contentType || node.contentType === 'text/plain')
  const lines = text ? textOf(text.body).split('\n') : []
  const reason = (
    lines.find((line) => /\b[45]\d\d[ -]|\b[45]\.\d{1,3}\.\d{1,3}\b/.test(line)) ??
    lines[0] ??
    ''
  ).trim()
  const status = /\b[45]\.\d{1,3}\.\d{1,3}\b/.exec(reason)?.[0] ?? ''
  return named.slice(0, MAX_RECIPIENTS).flatMap((one) => {
    const recipient = addressIn(one.trim())
    return recipient
      ? [{ recipient, bounce_type: typeOf(status, reason), bounce_reason: reason || 'failed' }]
      : []
  })
}

const STATUS = /\b[45]\.\d{1,3}\.\d{1,3}\b/

/** By the status of the report, or the one that the reply begins with. */
const typeOf = (status: string, said: string): BounceType =>
  bounceType(STATUS.exec(status)?.[0] ?? STATUS.exec(said)?.[0] ?? null, said)
