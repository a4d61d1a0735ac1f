import { envelopeAtEnd, readAddress } from './logged-envelope.ts'

/** A parsed line of the log. */
export type LogLine =
  | { kind: 'client'; queueId: string; client: string; saslUsername: string | null }
  | { kind: 'subject'; queueId: string; subject: string }
  | { kind: 'message-id'; queueId: string; messageId: string }
  | { kind: 'sender'; queueId: string; sender: string; size: number | null }
  | { kind: 'removed'; queueId: string }
  | { kind: 'expired'; queueId: string; sender: string }
  | Delivery
  | Reject

export interface Delivery {
  kind: 'delivery'
  queueId: string
  recipient: string
  originalRecipient: string | null
  relay: string
  delays: string | null
  dsn: string | null
  status: 'sent' | 'bounced' | 'expired' | 'deferred'
  detail: string
}

export interface Reject {
  kind: 'reject'
  queueId: string
  sender: string
  recipient: string
  isTemporary: boolean
  dsn: string | null
  detail: string
  /** The login, if the line contains it. */
  saslUsername: string | null
}

export const NO_QUEUE_ID = 'NOQUEUE'

/**
 * Parses a line by position: each program writes few forms, and only text at the positions that Postfix
 * controls is used. Subjects, addresses and replies come from remote servers and may imitate any form.
 */
export function parseLine(line: string): LogLine | undefined {
  const tag = tagOf(line)
  if (tag === -1 || !line.startsWith('postfix', tag)) return undefined
  const end = line.indexOf(']: ', tag)
  // `postfix/submission/smtpd[123]:` has no space in it.
  if (end === -1 || line.indexOf(' ', tag) !== end + 2) return undefined
  const bracket = line.lastIndexOf('[', end)
  const program = line.slice(line.lastIndexOf('/', bracket) + 1, bracket)
  const at = end + 3
  // A rejection by the filter before the queue has no queue id.
  if (line.startsWith(PROXY_REJECT, at)) return readers[program]?.(line.slice(at), NO_QUEUE_ID)
  const colon = line.indexOf(': ', at)
  if (colon === -1) return undefined
  const queueId = line.slice(at, colon)
  if (!isQueueId(queueId) && queueId !== NO_QUEUE_ID) return undefined
  const text = line.slice(colon + 2)
  return readers[program]?.(text, queueId)
}

type Reader = (text: string, queueId: string) => LogLine | undefined

const smtpd: Reader = (text, queueId) =>
  text.startsWith('client=') ? clientOf(text, queueId) : rejectOf(text, queueId)

const cleanup: Reader = (text, queueId) => {
  if (text.startsWith('message-id=')) {
    return { kind: 'message-id', queueId, messageId: text.slice(11) }
  }
  for (const start of ['info: header Subject: ', 'warning: header Subject: ']) {
    if (text.startsWith(start)) return subjectOf(text.slice(start.length), queueId)
  }
  return rejectOf(text, queueId)
}

const qmgr: Reader = (text, queueId) => {
  if (text === 'removed') return { kind: 'removed', queueId }
  const sender = text.startsWith('from=<') ? readAddress(text, 6) : undefined
  if (!sender) return undefined
  const rest = text.slice(sender.end)
  if (rest.startsWith(', status=expired') || rest.startsWith(', status=force-expired')) {
    return { kind: 'expired', queueId, sender: sender.address }
  }
  if (!rest.startsWith(', size=')) return undefined
  const size = Number.parseInt(rest.slice(7, 20), 10)
  return { kind: 'sender', queueId, sender: sender.address, size: Number.isNaN(size) ? null : size }
}

const agent: Reader = (text, queueId) =>
  text.startsWith('to=<') ? deliveryOf(text, queueId) : undefined

const pickup: Reader = (text, queueId) =>
  text.startsWith('uid=')
    ? { kind: 'client', queueId, client: 'local', saslUsername: null }
    : undefined

const readers: Record<string, Reader | undefined> = {
  __proto__: null as never,
  smtpd,
  postscreen: smtpd,
  cleanup,
  qmgr,
  pickup,
  postsuper: (text, queueId) => (text === 'removed' ? { kind: 'removed', queueId } : undefined),
  smtp: agent,
  lmtp: agent,
  local: agent,
  virtual: agent,
  pipe: agent,
  error: agent,
  discard: agent,
}

/** The offset of the program name, after time and host. */
function tagOf(line: string): number {
  const first = line.charCodeAt(0)
  // `Nov  5 …` has a fixed width; `2026-11-15T…` ends with its first space.
  const time = first >= 48 && first <= 57 ? line.indexOf(' ') : 15
  if (time === -1 || line.charCodeAt(time) !== 32) return -1
  const host = line.indexOf(' ', time + 1)
  return host === -1 ? -1 : host + 1
}

/**
 * Short ids are upper-case hexadecimal. Long ids (`enable_long_queue_ids`) contain no vowels, so words
 * such as `warning` are not ids.
 */
function isQueueId(text: string): boolean {
  if (text.length < 5 || text.length > 32) return false
  let isHex = true
  let isLong = true
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isDigit = code >= 48 && code <= 57
    const isUpper = code >= 65 && code <= 90
    if (!isDigit && !isUpper && !(code >= 97 && code <= 122)) return false
    if (isDigit) continue
    if (!(isUpper && code <= 70)) isHex = false
    if (VOWELS.includes(text.charAt(i))) isLong = false
  }
  return isHex || isLong
}
const VOWELS = 'AEIOUaeiou'

/** `client=name[ip], sasl_method=PLAIN, sasl_username=login, sasl_sender=…, orig_client=…` */
function clientOf(logged: string, queueId: string): LogLine | undefined {
  // After a filter, `orig_client` is the client that sent the message to the filter.
  const original = ORIGINAL.exec(logged)
  const text = original ? logged.slice(0, original.index) : logged
  const bracket = text.indexOf(']')
  if (bracket === -1) return undefined
  const client = original?.[1] ?? text.slice(text.indexOf('[') + 1, bracket)
  const method = text.indexOf(', sasl_method=', bracket)
  const name = method === -1 ? -1 : text.indexOf(', sasl_username=', method)
  if (name === -1) return { kind: 'client', queueId, client, saslUsername: null }
  // `sasl_sender` is the unverified AUTH= parameter of the client, so the login ends before it.
  const sender = text.indexOf(', sasl_sender=', name)
  const saslUsername = text.slice(name + 16, sender === -1 ? undefined : sender)
  return { kind: 'client', queueId, client, saslUsername }
}

const ORIGINAL = /(?:, orig_queue_id=\w+)?, orig_client=[^\s,[\]]*\[([^\s[\]]+)\]$/

/** The subject ends before the last ` from host[ip]; from=<…`; the sender controls the text before. */
function subjectOf(text: string, queueId: string): LogLine {
  const envelope = envelopeAtEnd(text)
  const end = envelope ? envelope.start : text.lastIndexOf('; from=<')
  const from = end === -1 ? -1 : text.lastIndexOf(' from ', end)
  return { kind: 'subject', queueId, subject: from === -1 ? text : text.slice(0, from) }
}

function deliveryOf(text: string, queueId: string): Delivery | undefined {
  const to = readAddress(text, 4)
  if (!to) return undefined
  let at = to.end
  let original: ReturnType<typeof readAddress>
  if (text.startsWith(', orig_to=<', at)) {
    original = readAddress(text, at + 11)
    if (!original) return undefined
    at = original.end
  }
  if (!text.startsWith(', relay=', at)) return undefined
  const relayEnd = text.indexOf(', ', at + 8)
  const relay = text.slice(at + 8, relayEnd)
  let delays: string | null = null
  let dsn: string | null = null
  at = relayEnd
  while (at !== -1 && text.startsWith(', ', at)) {
    const equals = text.indexOf('=', at)
    const name = text.slice(at + 2, equals)
    if (name === 'status') return finished(text, equals + 1)
    const next = text.indexOf(', ', equals)
    if (name === 'delays') delays = text.slice(equals + 1, next)
    else if (name === 'dsn') dsn = text.slice(equals + 1, next)
    at = next
  }
  return undefined

  function finished(text: string, start: number): Delivery | undefined {
    const space = text.indexOf(' ', start)
    const status = text.slice(start, space === -1 ? undefined : space)
    if (!isFinal(status)) return undefined
    const tail = space === -1 ? '' : text.slice(space + 1)
    const detail = tail.startsWith('(') && tail.endsWith(')') ? tail.slice(1, -1) : tail
    const recipient = to?.address ?? ''
    const originalRecipient = original?.address ?? null
    return {
      kind: 'delivery',
      queueId,
      recipient,
      originalRecipient,
      relay,
      delays,
      dsn,
      status,
      detail,
    }
  }
}

const isFinal = (status: string): status is Delivery['status'] =>
  status === 'sent' || status === 'bounced' || status === 'deferred' || status === 'expired'

/**
 * `reject: RCPT from name[ip]: 554 5.7.1 why; from=<…> to=<…> proto=ESMTP helo=<…>`, or from a filter
 * `proxy-reject: END-OF-MESSAGE: 554 …`. After a login, `sasl_username=<…>` follows at the end; where
 * Postfix 3.7 leaves it out, the text of the refusal ends with it.
 */
function rejectOf(logged: string, queueId: string): Reject | undefined {
  const isByFilter = logged.startsWith(PROXY_REJECT)
  const isByMilter = logged.startsWith('milter-reject: ')
  if (!isByMilter && !isByFilter && !logged.startsWith('reject: ')) return undefined
  const login = LOGIN.exec(logged)
  const text = login ? logged.slice(0, login.index) : logged
  if (text.startsWith('reject: header ') || text.startsWith('reject: body ')) {
    return contentRejectOf(text, queueId)
  }
  const envelope = envelopeAtEnd(text)
  if (!envelope || envelope.recipient === undefined) return undefined
  // The client name is a valid host name, so the first `]` ends its IP address; the reply follows.
  const bracket = text.indexOf(']', text.indexOf(' from '))
  const afterClient = bracket === -1 ? -1 : text.indexOf(': ', bracket)
  const reply = isByFilter ? PROXY_REJECT.length - 2 : afterClient
  if (reply === -1 || reply > envelope.start) return undefined
  const detail = text.slice(reply + 2, envelope.start)
  const [first = '', second = ''] = detail.split(' ', 2)
  const dsn = DSN.test(first) ? first : DSN.test(second) ? second : null
  const { sender, recipient } = envelope
  return {
    kind: 'reject',
    queueId,
    sender,
    recipient,
    isTemporary: detail.startsWith('4'),
    dsn,
    detail,
    saslUsername: login?.[1] ?? (isByMilter || isByFilter ? null : loginAtEnd(detail)),
  }
}

/**
 * The login at the end of a refusal of Postfix or of our policy services. Postfix quotes what a client
 * sent at the start of the text only. The replies of milters and filters hold texts of tenants.
 */
const loginAtEnd = (detail: string): string | null => REFUSED_LOGIN.exec(detail)?.[1] ?? null
const REFUSED_LOGIN =
  / (?:\(login (?=[^()\s]+\)$)|rejected: not owned by user (?=[^()\s]+$))([^()\s]+)\)?$/

const PROXY_REJECT = 'proxy-reject: END-OF-MESSAGE: '
// Postfix allows no `<` in the helo name, so a remote client cannot forge this.
const LOGIN = / sasl_username=<([^<>]*)>$/
const DSN = /^[245]\.\d{1,3}\.\d{1,3}$/

/** Rejected by a header or body check: `…; from=<…> to=<…> proto=… helo=<…>: 5.7.1 why`. */
function contentRejectOf(text: string, queueId: string): Reject | undefined {
  const helo = text.lastIndexOf(' helo=<')
  const end = helo === -1 ? -1 : text.indexOf('>: ', helo)
  const envelope = end === -1 ? undefined : envelopeAtEnd(text.slice(0, end + 1))
  if (!envelope || envelope.recipient === undefined) return undefined
  const detail = text.slice(end + 3)
  const [first = ''] = detail.split(' ', 1)
  return {
    kind: 'reject',
    queueId,
    sender: envelope.sender,
    recipient: envelope.recipient,
    isTemporary: false,
    dsn: DSN.test(first) ? first : null,
    detail,
    saslUsername: null,
  }
}
