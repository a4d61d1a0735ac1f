import { appendFileSync } from 'node:fs'

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const ALPHABET = '0123456789BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz'

let count = 0

/** A queue id in the format of Postfix with `enable_long_queue_ids`. */
export function newQueueId(): string {
  let id = ''
  for (let rest = ++count + 5e6, i = 0; i < 6; i++, rest = Math.floor(rest / 52)) {
    id = ALPHABET[rest % 52] + id
  }
  return `4jXk${id}z2Rb`
}

export const stampOf = (time: Date): string =>
  `${MONTHS[time.getUTCMonth()]} ${String(time.getUTCDate()).padStart(2)} ${time.toISOString().slice(11, 19)}`

interface Sent {
  queueId?: string
  messageId?: string
  subject?: string
  client?: string
  login?: string
  sender?: string
  recipient?: string
  relay?: string
  dsn?: string
  status?: string
  reply?: string
  /** True if the message leaves the queue. */
  removed?: boolean
}

/** A mail log that grows like that of Postfix. */
export function mailLog(path: string, now: () => Date = () => new Date()) {
  const lines = (...texts: string[]) =>
    texts.map((text) => `${stampOf(now())} mx postfix/${text}\n`).join('')
  const write = (...texts: string[]) => appendFileSync(path, lines(...texts))

  const arriving = (sent: Sent) => {
    const queueId = sent.queueId ?? newQueueId()
    const client = sent.client ?? 'localhost[127.0.0.1]'
    const sender = sent.sender ?? 'app@acme.test'
    // Without a client it is the submission of a tenant, which has logged in.
    const name = sent.login ?? (sent.client ? '' : `admin@${sender.split('@').at(-1)}`)
    const login = name ? `, sasl_method=PLAIN, sasl_username=${name}` : ''
    const messageId = sent.messageId ?? `<${queueId}@acme.test>`
    const subject = sent.subject ?? 'Hello'
    return {
      queueId,
      messageId,
      texts: [
        `submission/smtpd[11]: ${queueId}: client=${client}${login}`,
        `cleanup[12]: ${queueId}: info: header Subject: ${subject} from ${client}; from=<${sender}> to=<x@y.test> proto=ESMTP helo=<client.test>`,
        `cleanup[12]: ${queueId}: message-id=${messageId}`,
        `qmgr[13]: ${queueId}: from=<${sender}>, size=512, nrcpt=1 (queue active)`,
      ],
    }
  }
  const attempt = (queueId: string, sent: Sent) => {
    const { recipient = 'jane@elsewhere.test', status = 'sent', dsn = '2.0.0' } = sent
    const { relay = 'mx.elsewhere.test[192.0.2.7]:25', reply = '250 2.0.0 Ok' } = sent
    return `smtp[14]: ${queueId}: to=<${recipient}>, relay=${relay}, delay=0.3, delays=0.1/0/0.1/0.1, dsn=${dsn}, status=${status} (${reply})`
  }
  return {
    lines,
    write,
    /** Writes text without a line break. */
    begin: (text: string) => appendFileSync(path, lines(text).slice(0, -1)),
    /** The lines that log the arrival of a message. */
    arrive(sent: Sent = {}) {
      const { texts, ...ids } = arriving(sent)
      write(...texts)
      return ids
    },
    attempt: (queueId: string, sent: Sent = {}) => write(attempt(queueId, sent)),
    removed: (queueId: string) => write(`qmgr[13]: ${queueId}: removed`),
    /** All lines of a message from arrival to removal. */
    message(sent: Sent = {}) {
      const { texts, ...ids } = arriving(sent)
      const end = sent.removed === false ? [] : [`qmgr[13]: ${ids.queueId}: removed`]
      write(...texts, attempt(ids.queueId, sent), ...end)
      return ids
    },
    refusal: (why: string, sender: string, recipient: string) =>
      write(
        `mx/smtpd[15]: NOQUEUE: reject: RCPT from unknown[203.0.113.9]: ${why}; from=<${sender}> to=<${recipient}> proto=ESMTP helo=<h.test>`,
      ),
  }
}

export const HARD = {
  status: 'bounced',
  dsn: '5.1.1',
  reply: 'host mx[192.0.2.7] said: 550 5.1.1 No such user (in reply to RCPT TO command)',
}
export const SOFT = { status: 'bounced', dsn: '5.2.2', reply: '552 5.2.2 mailbox full' }
export const LATER = { status: 'deferred', dsn: '4.7.1', reply: '451 4.7.1 Greylisted' }
