import { ulid } from '../lib/ulid.ts'
import { headersOf, utf8 } from '../mime/headers.ts'
import type { ReceivedMail } from './received-mail.ts'
import type { Filtered } from './run-stages.ts'

interface Needs {
  hostname: string
  now: () => Date
}

/** RFC 3464: reports to the sender which recipients were rejected while others were accepted. */
export function bounceOf(
  { sender, raw }: ReceivedMail,
  rejected: Filtered['rejected'],
  { hostname, now }: Needs,
): Buffer {
  const boundary = ulid()
  const failures = rejected.flatMap(({ mail, text }) =>
    mail.recipients.map((recipient) => ({ recipient, why: oneLine(text) })),
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
    ...failures.map(({ recipient, why }) => `<${recipient}>: ${why}`),
    '',
    `--${boundary}`,
    'Content-Type: message/delivery-status',
    '',
    `Reporting-MTA: dns; ${hostname}`,
    ...failures.flatMap(({ recipient, why }) => [
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
      .filter(({ name }) => QUOTED_HEADERS.includes(name))
      .map(({ line }) => utf8(line).trimEnd()),
    '',
    `--${boundary}--`,
    '',
  ]
  return Buffer.from(lines.join('\r\n'))
}

const QUOTED_HEADERS = ['from', 'to', 'cc', 'subject', 'date', 'message-id']
const oneLine = (text: string) => text.replace(/\s+/g, ' ').slice(0, 400)
