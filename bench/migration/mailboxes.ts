import { createHash } from 'node:crypto'
import type { ImapFlow } from 'imapflow'
import type { Dovecot } from '../../test/support/dovecot.ts'
import { contentsOf, inMailbox } from '../../test/support/migration.ts'

export const FOLDERS = ['INBOX', 'Sent', 'Projects']

/** Messages of many sizes around a mean, the same in every run. */
export const fill = (server: Dovecot, user: string, messages: number, bytes: number) =>
  inMailbox(server, user, async (client) => {
    for (const path of FOLDERS.slice(1)) await client.mailboxCreate(path)
    const mean = bytes / messages
    for (let i = 0; i < messages; i++)
      await add(client, i, Math.max(400, mean * (0.2 + 1.6 * part(i))))
  })

const add = (client: ImapFlow, number: number, size: number) => {
  const line = `${createHash('sha256').update(String(number)).digest('hex')}\r\n`
  const text = [
    `Message-ID: <${number}@bench.example>`,
    'From: grace@bench.example',
    'To: jane@bench.example',
    `Subject: Message ${number}`,
    '',
    line.repeat(Math.ceil(size / line.length)),
  ].join('\r\n')
  const flags = [['\\Seen'], [], ['\\Seen', '\\Flagged'], ['$Label1']][number % 4] as string[]
  const at = new Date(Date.UTC(2015, 0, 1) + number * 3_600_000)
  return client.append(FOLDERS[number % 3] as string, text, flags, at)
}

/** Between 0 and 1, in no order. */
const part = (number: number) =>
  createHash('md5').update(String(number)).digest().readUInt16BE() / 65_535

/** What differs between two mailboxes; nothing, when a copy is right. */
export async function differences(one: Dovecot, from: string, other: Dovecot, to: string) {
  const [before, after] = [await contentsOf(one, from), await contentsOf(other, to)]
  return FOLDERS.filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path])).map(
    (path) => `${path}: ${before[path]?.length} at the source, ${after[path]?.length} copied`,
  )
}
