import { createHash } from 'node:crypto'
import { chownSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MAIL_UID } from '../../src/edge/settings.ts'
import { MINUTE_MS } from '../../src/lib/time.ts'
import { append } from '../../src/mail/imap/append.ts'
import { connectWire } from '../../src/mail/imap/connect.ts'

const PER_COMMAND = 200
const THREAD = 4

export interface Imap {
  port: number
  security: 'tls' | 'none'
  user: string
  password: string
}

/** Stores letters in the inbox over IMAP, the oldest first. */
export async function fillInbox(imap: Imap, from: number, to: number): Promise<void> {
  const wire = await connected(imap)
  try {
    for (let start = from; start < to; start += PER_COMMAND) {
      const length = Math.min(PER_COMMAND, to - start)
      const batch = Array.from({ length }, (_, at) => {
        const body = letter(start + at)
        const flags = (start + at) % 3 === 0 ? [] : ['\\Seen']
        return { flags, date: dateOf(start + at), size: body.length, body }
      })
      await append(wire, 'INBOX', batch)
    }
  } finally {
    wire.close()
  }
}

/** Opens the inbox as another program would, so that the mail server knows all its messages. */
export async function openInbox(imap: Imap): Promise<void> {
  const wire = await connected(imap)
  await wire.command(['SELECT INBOX\r\n'])
  wire.close()
}

const connected = ({ port, security, user, password }: Imap) =>
  connectWire(
    {
      name: '127.0.0.1',
      port,
      security,
      verify: false,
      user,
      secret: password,
      auth: 'password',
      addresses: async () => ['127.0.0.1'],
    },
    new AbortController().signal,
  )

/**
 * Writes the letters into a Maildir that Dovecot has made: storing 100,000 over IMAP takes many
 * minutes, because each is flushed to disk.
 */
export function fillMaildir(maildir: string, count: number): void {
  for (let number = 0; number < count; number++) {
    const isSeen = number % 3 !== 0
    const date = dateOf(number)
    const bytes = letter(number)
    // Dovecot writes both sizes into the name; without them it would read every file for the quota.
    const base = `${date.getTime() / 1000}.N${number}.bench,S=${bytes.length},W=${bytes.length}`
    const file = join(maildir, 'cur', `${base}:2,${isSeen ? 'S' : ''}`)
    writeFileSync(file, bytes)
    chownSync(file, MAIL_UID, MAIL_UID)
    utimesSync(file, date, date)
  }
}

const dateOf = (number: number) => new Date(Date.UTC(2020, 0, 1) + number * MINUTE_MS)

/** A letter of about 2 KB. Four letters are a thread; every tenth has an attachment. */
function letter(number: number): Buffer {
  const first = number - (number % THREAD)
  const line = `${createHash('sha256').update(String(number)).digest('hex')}\r\n`
  const head = [
    `Message-ID: <${number}@letters.example>`,
    ...(number === first ? [] : [`References: <${first}@letters.example>`]),
    `From: Sender ${number % 97} <sender${number % 97}@letters.example>`,
    'To: Reader <reader@letters.example>',
    `Subject: ${number === first ? '' : 'Re: '}Matter ${first}`,
    `Date: ${dateOf(number).toUTCString().replace('GMT', '+0000')}`,
    'MIME-Version: 1.0',
  ]
  const text = `Dear reader, this is letter ${number}.\r\n${line.repeat(24)}`
  if (number % 10 !== 0) {
    return Buffer.from([...head, 'Content-Type: text/plain; charset=utf-8', '', text].join('\r\n'))
  }
  const parts = [
    'Content-Type: multipart/mixed; boundary=bound',
    '',
    '--bound',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
    '--bound',
    'Content-Type: application/pdf; name=a.pdf',
    'Content-Disposition: attachment; filename=a.pdf',
    'Content-Transfer-Encoding: base64',
    '',
    Buffer.from(line).toString('base64'),
    '--bound--',
    '',
  ]
  return Buffer.from([...head, ...parts].join('\r\n'))
}
