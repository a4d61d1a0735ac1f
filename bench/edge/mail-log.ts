import { closeSync, openSync, writeSync } from 'node:fs'
import { DAY_MS } from '../../src/lib/time.ts'

/** Totals of a generated log. */
export interface Written {
  lines: number
  delivered: number
  deferrals: number
  bounced: number
  rejected: number
}

const START = Date.UTC(2026, 10, 1, 0, 0, 0)
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')
const ALPHABET = '0123456789BCDFGHJKLMNPQRSTVWXYZbcdfghjklmnpqrstvwxyz'
const MESSAGES_A_SECOND = 40

/**
 * Writes a log like Postfix: messages overlap; most are delivered, some deferred, bounced or
 * rejected.
 */
export function writeLog(path: string, minimumLines: number): Written {
  const file = openSync(path, 'w')
  const written: Written = { lines: 0, delivered: 0, deferrals: 0, bounced: 0, rejected: 0 }
  let seed = 20261115
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  /** Lines of messages that started earlier, by the second in which they appear. */
  const later = new Map<number, string[]>()
  let buffer = ''
  for (let second = 0, n = 0; written.lines < minimumLines; second++) {
    const time = stamp(START + second * 1000)
    const put = (program: string, text: string) => {
      buffer += `${time} mx postfix/${program}: ${text}\n`
      written.lines++
    }
    for (const line of later.get(second) ?? []) {
      buffer += `${time} mx postfix/${line}\n`
      written.lines++
    }
    later.delete(second)
    for (let i = 0; i < MESSAGES_A_SECOND; i++, n++) {
      const pid = 10_000 + random(500)
      const client = `mail${random(300)}.example[203.0.113.${random(250)}]`
      const sender = `sender${random(2000)}@tenant${random(50)}.example`
      const recipient = `user${random(20_000)}@domain${random(800)}.example`
      if (n % 12 === 0) {
        put(`smtpd[${pid}]`, `connect from ${client}`)
        put(
          `smtpd[${pid}]`,
          `NOQUEUE: reject: RCPT from ${client}: 554 5.7.1 <${recipient}>: Relay access denied; from=<${sender}> to=<${recipient}> proto=ESMTP helo=<mail.example>`,
        )
        put(`smtpd[${pid}]`, `disconnect from ${client} ehlo=1 mail=1 rcpt=0/1 quit=1 commands=3/4`)
        written.rejected++
        continue
      }
      const id = queueId(n)
      const size = 800 + random(60_000)
      put(`submission/smtpd[${pid}]`, `connect from ${client}`)
      put(
        `submission/smtpd[${pid}]`,
        `${id}: client=${client}, sasl_method=PLAIN, sasl_username=login-${random(200)}`,
      )
      put(
        `cleanup[${pid}]`,
        `${id}: info: header Subject: Order ${n} of ${random(1e6)} is on its way from ${client}; from=<${sender}> to=<${recipient}> proto=ESMTP helo=<mail.example>`,
      )
      put(`cleanup[${pid}]`, `${id}: message-id=<${n}.${size}@tenant.example>`)
      put(`qmgr[812]`, `${id}: from=<${sender}>, size=${size}, nrcpt=1 (queue active)`)
      put(
        `submission/smtpd[${pid}]`,
        `disconnect from ${client} ehlo=2 starttls=1 auth=1 mail=1 rcpt=1 data=1 quit=1 commands=8`,
      )
      const attempt = (status: string, dsn: string, reply: string) =>
        `smtp[${pid}]: ${id}: to=<${recipient}>, relay=mx.domain.example[198.51.100.7]:25, delay=1.2, delays=0.05/0.01/0.4/0.74, dsn=${dsn}, status=${status} (${reply})`
      const at = (wait: number, ...lines: string[]) => {
        const due = second + wait
        later.set(due, [...(later.get(due) ?? []), ...lines])
      }
      const kind = n % 25
      if (kind === 1) {
        at(
          1,
          attempt(
            'bounced',
            '5.1.1',
            'host mx.domain.example[198.51.100.7] said: 550 5.1.1 No such user (in reply to RCPT TO command)',
          ),
          `bounce[77]: ${id}: sender non-delivery notification: ${queueId(n + 5e7)}`,
          `qmgr[812]: ${id}: removed`,
        )
        written.bounced++
        continue
      }
      if (kind === 2) {
        at(
          1,
          attempt(
            'deferred',
            '4.7.1',
            'host mx.domain.example[198.51.100.7] said: 451 4.7.1 Greylisted (in reply to RCPT TO command)',
          ),
        )
        at(300, `qmgr[812]: ${id}: from=<${sender}>, size=${size}, nrcpt=1 (queue active)`)
        written.deferrals++
      }
      at(
        kind === 2 ? 301 : 1,
        attempt('sent', '2.0.0', `250 2.0.0 Ok: queued as ${id}`),
        `qmgr[812]: ${id}: removed`,
      )
      written.delivered++
    }
    if (buffer.length > 1 << 20) {
      writeSync(file, buffer)
      buffer = ''
    }
  }
  // Messages that are still in progress end in the last second.
  const time = stamp(START + DAY_MS * 20)
  for (const line of [...later.values()].flat()) {
    buffer += `${time} mx postfix/${line}\n`
    written.lines++
  }
  writeSync(file, buffer)
  closeSync(file)
  return written
}

function stamp(time: number): string {
  const date = new Date(time)
  const day = String(date.getUTCDate()).padStart(2)
  return `${MONTHS[date.getUTCMonth()]} ${day} ${date.toISOString().slice(11, 19)}`
}

function queueId(n: number): string {
  let id = ''
  for (let rest = n + 7e8, i = 0; i < 9; i++, rest = Math.floor(rest / 52)) {
    id = ALPHABET[rest % 52] + id
  }
  return `4${id}z2R7C`
}
