import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type BounceType, bounceType } from './bounce-type.ts'
import { logClock } from './log-time.ts'
import type { Deferred, Message, Messages } from './messages.ts'
import { type Delivery, NO_QUEUE_ID, parseLine, type Reject } from './postfix-line.ts'
import type { sameRows } from './same-rows.ts'

/** The outcome of one message for one recipient, read from the log. It becomes a row of `mail_log`. */
export interface Attempt {
  id: string
  timestamp: string
  queue_id: string
  message_id: string | null
  sender: string
  recipient: string
  original_recipient: string | null
  subject: string | null
  status: 'delivered' | 'bounced' | 'deferred' | 'rejected'
  relay: string | null
  size: number | null
  delays: string | null
  dsn: string | null
  detail: string
  bounce_reason: string | null
  bounce_type: BounceType | null
  sasl_username: string | null
  /** The IP address of the SMTP client; null for a program on this machine. */
  client_ip: string | null
  /** The organization of the login, else the owner of the recipient's domain. Set by `attemptRecorder`. */
  organization_id: string | null
  /** The hosted domain that determined the organization, else the recipient's domain. */
  domain: string
  /** True if a login of this host sent the message. */
  is_outgoing: boolean
  credential_id: string | null
  /** The deferred attempt of this recipient that this one follows. */
  replaces: Replaced | null
  /** The score of incoming mail that the content filter has scanned. */
  spam_score: number | null
}

/** The time is missing when an earlier version stored the message. */
export interface Replaced {
  id: string
  at?: string
}

export interface Read {
  attempts: Attempt[]
  /** The time of the last use of each login. */
  logins: Map<string, number>
}

interface Needs {
  messages: Messages
  counted: ReturnType<typeof sameRows>
  internalRelays: readonly string[]
  now: () => Date
}

const LINES_PER_TURN = 100
const STATUS = {
  sent: 'delivered',
  bounced: 'bounced',
  expired: 'bounced',
  deferred: 'deferred',
} as const
const LOOPBACK = /^(?:local|127\.|::1$|IPv6:::1$)/

/** Converts log lines to attempts, with the data that earlier lines gave for the message. */
export function attemptReader({ messages, counted, internalRelays, now }: Needs) {
  const timeOf = logClock(now)
  let result: Read
  let lastTime = Number.NaN
  let timestamp = ''

  /** Returns the id of the attempt. */
  function add(time: number, message: Message, fields: AttemptFields): string {
    if (time !== lastTime) {
      lastTime = time
      timestamp = new Date(time).toISOString()
    }
    const recipient = normalized(fields.recipient)
    const key = `${message.queueId}\n${recipient}\n${fields.status}\n${timestamp}`
    const id = idOf(counted.distinct(key, time))
    result.attempts.push(attemptOf({ id, timestamp, recipient }, message, fields))
    return id
  }

  function delivery(time: number, line: Delivery) {
    const { queueId, recipient, originalRecipient, relay, delays, dsn, detail } = line
    const message = messages.find(queueId)
    if (line.status === 'sent') {
      // Counts each message once: when it returns from the filter, or under its new queue id.
      if (internalRelays.includes(relay)) {
        messages.note(queueId, { handedOver: true })
        return
      }
      if (detail.startsWith('forwarded as ')) {
        const saslUsername = message?.saslUsername
        const next = detail.slice(13)
        if (saslUsername !== undefined) messages.note(next, { saslUsername })
        return
      }
    }
    const before = message?.deferred?.find((one) => one.recipient === recipient)
    const attemptId = add(time, message ?? { queueId }, {
      recipient,
      original_recipient: originalRecipient,
      status: STATUS[line.status],
      relay,
      delays,
      dsn,
      detail,
      replaces: replacedBy(before),
    })
    if (line.status === 'deferred') {
      const attemptAt = timestamp
      const why = { recipient, relay, dsn, detail: detail.slice(0, 2000), attemptId, attemptAt }
      messages.noteDeferred(queueId, why)
    } else {
      messages.noteDone(queueId, recipient)
    }
  }

  function reject(time: number, line: Reject) {
    const { queueId, sender, recipient, isTemporary, dsn, detail, saslUsername } = line
    const message = queueId === NO_QUEUE_ID ? undefined : messages.find(queueId)
    const status = isTemporary ? 'deferred' : 'rejected'
    const login = saslUsername === null ? {} : { saslUsername }
    add(time, { ...(message ?? { queueId }), ...login }, { sender, recipient, status, dsn, detail })
  }

  /** The message left the queue undelivered: it bounces for every recipient that was deferred. */
  function expired(time: number, queueId: string, sender: string) {
    const message = messages.find(queueId)
    const waiting = message?.deferred ?? []
    if (waiting.length === 0) {
      add(time, message ?? { queueId }, {
        sender,
        recipient: '',
        status: 'bounced',
        dsn: null,
        detail: 'expired, returned to sender',
      })
    }
    for (const one of waiting) {
      const { recipient, relay, dsn, detail } = one
      const fields = { sender, recipient, relay, dsn, detail, replaces: replacedBy(one) }
      add(time, message as Message, { status: 'bounced', ...fields })
    }
    if (message) messages.note(queueId, { deferred: [] })
  }

  /** Copies the login of a message to its second pass, when it returns from a filter. */
  function link({ queueId, client, saslUsername, messageId, sender }: Message) {
    const isReturn = client !== undefined && LOOPBACK.test(client) && saslUsername === undefined
    if (!isReturn || messageId === undefined || sender === undefined) return
    const login = messages.linkTo(messageId, sender)
    if (login !== undefined) messages.note(queueId, { saslUsername: login })
  }

  function readLine(text: string) {
    const line = parseLine(text)
    const time = line && timeOf(text)
    if (time === undefined) return
    switch (line?.kind) {
      case 'client': {
        const { queueId, client, saslUsername } = line
        // Before the filter a message has no queue id that later lines could refer to.
        if (queueId !== NO_QUEUE_ID) {
          messages.begin(queueId, { client, ...(saslUsername !== null && { saslUsername }) })
        }
        if (saslUsername !== null) {
          result.logins.set(saslUsername, Math.max(time, result.logins.get(saslUsername) ?? 0))
        }
        return
      }
      case 'subject':
        messages.note(line.queueId, { subject: line.subject })
        return
      case 'message-id':
        messages.note(line.queueId, { messageId: line.messageId })
        return
      case 'sender': {
        const { queueId, sender, size } = line
        link(messages.note(queueId, { sender, ...(size !== null && { size }) }))
        return
      }
      case 'removed':
        messages.remove(line.queueId)
        return
      case 'expired':
        expired(time, line.queueId, line.sender)
        return
      case 'delivery':
        delivery(time, line)
        return
      case 'reject':
        reject(time, line)
    }
  }

  return async (lines: Iterable<string>): Promise<Read> => {
    result = { attempts: [], logins: new Map() }
    let count = 0
    for (const line of lines) {
      readLine(line)
      // Yields to the event loop, so that the portions being stored make progress.
      if (++count % LINES_PER_TURN === 0) await setImmediate()
    }
    return result
  }
}

const replacedBy = (deferred: Deferred | undefined): Replaced | null =>
  deferred?.attemptId === undefined
    ? null
    : { id: deferred.attemptId, ...(deferred.attemptAt && { at: deferred.attemptAt }) }

type AttemptFields = Pick<Attempt, 'recipient' | 'status' | 'dsn' | 'detail'> & Partial<Attempt>

function attemptOf(
  key: Pick<Attempt, 'id' | 'timestamp' | 'recipient'>,
  { queueId, messageId, sender, subject, size, client, saslUsername }: Message,
  fields: AttemptFields,
): Attempt {
  const detail = fields.detail.slice(0, 2000)
  const dsn = fields.dsn?.slice(0, 10) ?? null
  return {
    id: key.id,
    timestamp: key.timestamp,
    queue_id: queueId,
    message_id: messageId === undefined ? null : messageId.slice(0, 255),
    sender: normalized(fields.sender ?? sender ?? ''),
    recipient: key.recipient,
    original_recipient: fields.original_recipient ? normalized(fields.original_recipient) : null,
    subject: subject === undefined ? null : subject.slice(0, 1000),
    status: fields.status,
    relay: fields.relay ? fields.relay.slice(0, 255) : null,
    size: size ?? null,
    delays: fields.delays?.slice(0, 100) ?? null,
    dsn,
    detail,
    bounce_reason: fields.status === 'delivered' ? null : detail,
    bounce_type: fields.status === 'bounced' ? bounceType(dsn, detail) : null,
    sasl_username: saslUsername === undefined ? null : saslUsername.slice(0, 255),
    client_ip: client === undefined || LOOPBACK.test(client) ? null : client,
    organization_id: null,
    domain: '',
    is_outgoing: false,
    credential_id: null,
    replaces: fields.replaces ?? null,
    spam_score: null,
  }
}

/** E-mail addresses are compared in lower case everywhere. */
const normalized = (address: string): string => address.slice(0, 255).toLowerCase()

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${BASE32[n >> 5]}${BASE32[n & 31]}`)

/** The first 26 characters of the base 32 form of a SHA-256: 130 bits, ten at a time. */
function idOf(key: string): string {
  // A binary string: allocating a Buffer takes twice as long as the hash.
  const digest = hash('sha256', key, 'binary')
  const wordAt = (at: number) =>
    (digest.charCodeAt(at) << 24) |
    (digest.charCodeAt(at + 1) << 16) |
    (digest.charCodeAt(at + 2) << 8) |
    digest.charCodeAt(at + 3)
  let id = ''
  for (let at = 0; id.length < 26; at += 5) {
    const high = wordAt(at)
    const low = wordAt(at + 1)
    id += PAIRS[high >>> 22]
    if (id.length === 26) break
    id += `${PAIRS[(high >>> 12) & 1023]}${PAIRS[(low >>> 10) & 1023]}${PAIRS[low & 1023]}`
  }
  return id
}
