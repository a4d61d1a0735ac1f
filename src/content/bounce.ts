import { ulid } from '../lib/ulid.ts'
import type { Arrived } from './envelope.ts'
import { headersOf } from './headers.ts'
import type { Filtered } from './run-stages.ts'

interface From {
  hostname: string
  now: () => Date
}

/** RFC 3464: tells a sender which recipients do not get a message that others got. */
export function bounceOf(
  { sender, raw }: Arrived,
  refused: Filtered['refused'],
  { hostname, now }: From,
): Buffer {
  const boundary = ulid()
  const each = refused.flatMap(({ message, text }) =>
    message.recipients.map((recipient) => ({ recipient, why: oneLine(text) })),
  )
  const lines = [
    `From: Mail Delivery System <MAILER-DAEMON@${hostname}>`,
    `To: <${sender}>`,
    'Subject: Undelivered Mail Returned to Sender',
    `Date: ${now().toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${ulid().toLowerCase()}@${hostname}>`,
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Your message was not delivered to these recipients:',
    '',
    ...each.map(({ recipient, why }) => `<${recipient}>: ${why}`),
    '',
    `--${boundary}`,
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; ${hostname}`,
    ...each.flatMap(({ recipient, why }) => [
      '',
      `Final-Recipient: rfc822; ${recipient}`,
      'Action: failed',
      'Status: 5.7.1',
      `Diagnostic-Code: smtp; 554 5.7.1 ${why}`,
    ]),
    '',
    `--${boundary}`,
    'Content-Type: text/rfc822-headers',
    '',
    ...headersOf(raw)
      .filter(({ name }) => WORTH_SHOWING.includes(name))
      .map(({ line }) => Buffer.from(line, 'latin1').toString('utf8')),
    '',
    `--${boundary}--`,
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}

const WORTH_SHOWING = ['from', 'to', 'cc', 'subject', 'date', 'message-id']
const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 400)
