import { hash } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { type BounceType, bounceType } from './bounce-type.ts'
import { logClock } from './log-time.ts'
import type { Message, Messages } from './messages.ts'
import { type Delivery, NO_QUEUE_ID, parseLine, type Reject } from './postfix-line.ts'
import type { sameRows } from './same-rows.ts'

/** What became of a message for one recipient, as the log tells it: a row of `mail_log` to be. */
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
  /** From a stranger: not logged in, and from outside. Who the sender is, nobody has checked. */
  is_stranger: boolean
  /** Who handed it in, unless that was a program on this machine. */
  client_ip: string | null
  /** Of whom the sender's domain is, else the recipient's; unknown until somebody looks. */
  organization_id: string | null
  /** The hosted domain that decided, else the sender's. */
  domain: string
  /** The sender's domain is hosted here: the message went out. */
  is_outgoing: boolean
  credential_id: string | null
}

export interface Read {
  attempts: Attempt[]
  /** When each login was last used. */
  logins: Map<string, number>
}

interface Needs {
  messages: Messages
  counted: ReturnType<typeof sameRows>
  internalRelays: readonly string[]
  now: () => Date
}

const AT_ONCE = 100
const STATUS = {
  sent: 'delivered',
  bounced: 'bounced',
  expired: 'bounced',
  deferred: 'deferred',
} as const
const LOOPBACK = /^(?:local|127\.|::1$|IPv6:::1$)/
const PRIVATE = /^(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|f[cd]|fe80:)/i

/** Makes attempts of lines, with what earlier lines said of the same message. */
export function attemptReader({ messages, counted, internalRelays, now }: Needs) {
  const timeOf = logClock(now)
  let found: Read
  let lastTime = Number.NaN
  let timestamp = ''

  function add(
    time: number,
    message: Omit<Message, 'queueId'> & { queueId: string },
    fields: Pick<Attempt, 'recipient' | 'status' | 'dsn' | 'detail'> & Partial<Attempt>,
  ) {
    if (time !== lastTime) {
      lastTime = time
      timestamp = new Date(time).toISOString()
    }
    const recipient = addressOf(fields.recipient)
    const key = `${message.queueId}\n${recipient}\n${fields.status}\n${timestamp}`
    const detail = fields.detail.slice(0, 2000)
    const dsn = fields.dsn?.slice(0, 10) ?? null
    const { client, saslUsername } = message
    found.attempts.push({
      id: idOf(counted.distinct(key, time)),
      timestamp,
      queue_id: message.queueId,
      message_id: message.messageId === undefined ? null : message.messageId.slice(0, 255),
      sender: addressOf(fields.sender ?? message.sender ?? ''),
      recipient,
      original_recipient: fields.original_recipient ? addressOf(fields.original_recipient) : null,
      subject: message.subject === undefined ? null : message.subject.slice(0, 1000),
      status: fields.status,
      relay: fields.relay ? fields.relay.slice(0, 255) : null,
      size: message.size ?? null,
      delays: fields.delays?.slice(0, 100) ?? null,
      dsn,
      detail,
      bounce_reason: fields.status === 'delivered' ? null : detail,
      bounce_type: fields.status === 'bounced' ? bounceType(dsn, detail) : null,
      sasl_username: saslUsername === undefined ? null : saslUsername.slice(0, 255),
      is_stranger:
        client !== undefined &&
        saslUsername === undefined &&
        !LOOPBACK.test(client) &&
        !PRIVATE.test(client),
      client_ip: client === undefined || LOOPBACK.test(client) ? null : client,
      organization_id: null,
      domain: '',
      is_outgoing: false,
      credential_id: null,
    })
  }

  function delivery(time: number, line: Delivery) {
    const { queueId, recipient, originalRecipient, relay, delays, dsn, detail } = line
    const message = messages.find(queueId)
    if (line.status === 'sent') {
      // Each message counts once: where it comes back from a filter, or under its new queue id.
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
    if (line.status === 'deferred') {
      messages.noteDeferred(queueId, { recipient, relay, dsn, detail: detail.slice(0, 2000) })
    } else {
      messages.noteDone(queueId, recipient)
    }
    add(time, message ?? { queueId }, {
      recipient,
      original_recipient: originalRecipient,
      status: STATUS[line.status],
      relay,
      delays,
      dsn,
      detail,
    })
  }

  function reject(time: number, line: Reject) {
    const { queueId, sender, recipient, isTemporary, dsn, detail, saslUsername } = line
    const message = queueId === NO_QUEUE_ID ? undefined : messages.find(queueId)
    const status = isTemporary ? 'deferred' : 'rejected'
    const login = saslUsername === null ? {} : { saslUsername }
    add(time, { ...(message ?? { queueId }), ...login }, { sender, recipient, status, dsn, detail })
  }

  /** The queue gave up: whoever did not get it yet, never will. */
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
    for (const { recipient, relay, dsn, detail } of waiting) {
      add(time, message as Message, { sender, recipient, status: 'bounced', relay, dsn, detail })
    }
    if (message) messages.note(queueId, { deferred: [] })
  }

  /** A message that comes back from a filter keeps the login it came with. */
  function link({ queueId, client, saslUsername, messageId, sender }: Message) {
    const isBack = client !== undefined && LOOPBACK.test(client) && saslUsername === undefined
    if (!isBack || messageId === undefined || sender === undefined) return
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
        // In front of a filter there is no queue, and nothing that other lines could be about.
        if (queueId !== NO_QUEUE_ID) {
          messages.begin(queueId, { client, ...(saslUsername !== null && { saslUsername }) })
        }
        if (saslUsername !== null) {
          found.logins.set(saslUsername, Math.max(time, found.logins.get(saslUsername) ?? 0))
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
    found = { attempts: [], logins: new Map() }
    let count = 0
    for (const line of lines) {
      readLine(line)
      // The portions that are being stored meanwhile have something to say, and wait to be heard.
      if (++count % AT_ONCE === 0) await setImmediate()
    }
    return found
  }
}

/** Addresses are compared in lower case everywhere. */
const addressOf = (logged: string): string => logged.slice(0, 255).toLowerCase()

const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567'
const PAIRS = Array.from({ length: 1024 }, (_, n) => `${BASE32[n >> 5]}${BASE32[n & 31]}`)

/** The first 26 characters of the base 32 form of a SHA-256: 130 bits, ten at a time. */
function idOf(key: string): string {
  // As text: a buffer costs twice as much as the hash itself.
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
