import { createHash } from 'node:crypto'
import { HOUR_MS } from '../../src/lib/time.ts'
import type { Dovecot } from '../../test/support/dovecot.ts'
import { appendMany, contentsOf, inMailbox } from '../../test/support/migration.ts'

export const FOLDERS = ['INBOX', 'Sent', 'Projects']

/** Messages of many sizes around a mean, identical in every run. */
export async function fill(server: Dovecot, user: string, messages: number, bytes: number) {
  await inMailbox(server, user, async (client) => {
    for (const path of FOLDERS.slice(1)) await client.mailboxCreate(path)
  })
  const mean = bytes / messages
  const all = Array.from({ length: messages }, (_, number) =>
    message(number, Math.max(400, mean * (0.2 + 1.6 * part(number)))),
  )
  await appendMany(server, user, all)
}

function message(number: number, size: number) {
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
  const date = new Date(Date.UTC(2015, 0, 1) + number * HOUR_MS)
  return { path: FOLDERS[number % 3] as string, text, flags, date }
}

/** Numbers between 0 and 1 in no particular order. */
const part = (number: number) =>
  createHash('md5').update(String(number)).digest().readUInt16BE() / 65_535

/** Lists the differences between two mailboxes; empty when the copy is correct. */
export async function differences(one: Dovecot, from: string, other: Dovecot, to: string) {
  const [before, after] = [await contentsOf(one, from), await contentsOf(other, to)]
  return FOLDERS.filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path])).map(
    (path) => `${path}: ${before[path]?.length} at the source, ${after[path]?.length} copied`,
  )
}
