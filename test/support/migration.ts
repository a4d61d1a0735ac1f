import { createHash } from 'node:crypto'
import { ImapFlow } from 'imapflow'
import { append } from '../../src/mail/imap/append.ts'
import { connectWire } from '../../src/mail/imap/connect.ts'
import type { Client } from './app.ts'
import { type Dovecot, startDovecot } from './dovecot.ts'
import { waitFor } from './wait.ts'

export const IMAP_PASSWORD = 'a password of the tests'
export const MIGRATION = '/api/v1/migration'

/** A Dovecot with one password for all users. */
export const imapServer = (...users: string[]): Promise<Dovecot> => startDovecot(logins(users))

/** A Dovecot without TLS, for programs that reject the test certificate. */
export const plainImapServer = (...users: string[]): Promise<Dovecot> =>
  startDovecot(logins(users), { tls: false })

const logins = (users: string[]) =>
  Object.fromEntries(users.map((user) => [user, `{PLAIN}${IMAP_PASSWORD}`]))

/** The settings of a control plane with this mail server; connections to loopback are allowed. */
export const settingsFor = ({ ports }: Dovecot): Record<string, string> => ({
  IMAP_HOST: '127.0.0.1',
  IMAP_PORT: String(ports.imaps),
  IMAP_TLS: 'true',
  SVC_OUTBOUND_ALLOW: '127.0.0.0/8',
})

/** Works in a mailbox as its owner. */
export async function inMailbox<Result>(
  { ports }: Dovecot,
  user: string,
  work: (client: ImapFlow) => Promise<Result>,
): Promise<Result> {
  const client = new ImapFlow({
    host: '127.0.0.1',
    port: ports.imap,
    secure: false,
    doSTARTTLS: false,
    auth: { user, pass: IMAP_PASSWORD },
    logger: false,
    disableAutoIdle: true,
  })
  await client.connect()
  try {
    return await work(client)
  } finally {
    client.close()
  }
}

const BATCH = 100

/** Appends many messages to a folder, a hundred per command. */
export async function appendMany(
  { ports }: Dovecot,
  user: string,
  messages: { path: string; text: string; flags: string[]; date: Date }[],
): Promise<void> {
  const wire = await connectWire(
    {
      name: '127.0.0.1',
      port: ports.imap,
      security: 'none',
      verify: false,
      user,
      secret: IMAP_PASSWORD,
      auth: 'password',
      addresses: async () => ['127.0.0.1'],
    },
    new AbortController().signal,
  )
  try {
    for (const path of new Set(messages.map((one) => one.path))) {
      const mine = messages.filter((one) => one.path === path)
      for (let start = 0; start < mine.length; start += BATCH) {
        const batch = mine.slice(start, start + BATCH).map(({ text, ...one }) => {
          const body = Buffer.from(text)
          return { ...one, body, size: body.length }
        })
        await append(wire, path, batch)
      }
    }
  } finally {
    wire.close()
  }
}

export const letter = (number: number | string, body = `This is letter ${number}.`): string =>
  [
    `Message-ID: <${number}@old.example>`,
    'From: Grace <grace@old.example>',
    'To: Jane <jane@old.example>',
    `Subject: Letter ${number}`,
    'Date: Mon, 02 Mar 2020 10:00:00 +0000',
    '',
    body,
    '',
  ].join('\r\n')

export interface StoredMessage {
  hash: string
  messageId: string
  flags: string[]
  date: string
}

/** The messages of a mailbox by folder, in an order that does not depend on the server. */
export const contentsOf = (
  server: Dovecot,
  user: string,
): Promise<Record<string, StoredMessage[]>> =>
  inMailbox(server, user, async (client) => {
    const folders: Record<string, StoredMessage[]> = {}
    for (const { path, flags } of await client.list()) {
      if (flags.has('\\Noselect')) continue
      const { exists } = await client.mailboxOpen(path, { readOnly: true })
      const messages: StoredMessage[] = []
      const query = { source: true, flags: true, internalDate: true, envelope: true }
      if (exists > 0) {
        for await (const one of client.fetch('1:*', query)) {
          messages.push({
            hash: createHash('sha256')
              .update(one.source ?? '')
              .digest('hex'),
            messageId: one.envelope?.messageId ?? '',
            flags: [...(one.flags ?? [])].filter((flag) => flag !== '\\Recent').sort(),
            date: new Date(one.internalDate ?? 0).toISOString(),
          })
        }
      }
      messages.sort((a, b) => (a.hash + a.date < b.hash + b.date ? -1 : 1))
      folders[path] = messages
    }
    return folders
  })

interface Pair {
  source: Dovecot
  from: string
  to: string
}

export const importBody = ({ source, from, to }: Pair, more: object = {}) => ({
  source_host: '127.0.0.1',
  source_port: source.ports.imaps,
  source_tls_verify: false,
  source_username: from,
  source_password: IMAP_PASSWORD,
  target_email: to,
  target_password: IMAP_PASSWORD,
  ...more,
})

export const PASSWORDS = { source_password: IMAP_PASSWORD, target_password: IMAP_PASSWORD }

export async function startImport(client: Client, pair: Pair, more: object = {}): Promise<string> {
  const { status, body, text } = await client.post(`${MIGRATION}/import`, importBody(pair, more))
  if (status !== 201) throw new Error(text)
  return body.job_id
}

/** Waits for the end of a job and returns it, whatever its status. */
export const endOf = (client: Client, id: string, patienceMs = 480_000) =>
  waitFor(async () => {
    const { job } = (await client.get(`${MIGRATION}/jobs/${id}`)).body
    return ['completed', 'failed', 'cancelled'].includes(job.status) && job
  }, patienceMs)
