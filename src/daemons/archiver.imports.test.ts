import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { App } from '../../test/support/app.ts'
import {
  ARCHIVE,
  type ArchiveHost,
  letter,
  startArchiveHost,
  uploaded,
} from '../../test/support/archive-host.ts'
import { startPlainImap } from '../../test/support/plain-imap.ts'
import { waitFor } from '../../test/support/wait.ts'

const MESSAGES = 30
const MESSAGE_BYTES = 20_000

const stored = (index: number) => ({
  text: `From: x@elsewhere.test\r\nSubject: number ${index}\r\n\r\n${randomBytes(MESSAGE_BYTES).toString('base64')}\r\n`,
  flags: [],
  date: '02-Jan-2026 03:04:05 +0000',
})

let host: ArchiveHost
let app: App
let imap: Awaited<ReturnType<typeof startPlainImap>>
beforeAll(async () => {
  const messages = Array.from({ length: MESSAGES }, (_, index) => stored(index))
  imap = await startPlainImap({
    folders: { Earlier: { messages: [stored(-1)] }, INBOX: { messages } },
  })
  host = await startArchiveHost({
    ARCHIVE_SPOOL_MAX_MB: '1',
    IMAP_HOST: '127.0.0.1',
    IMAP_PORT: String(imap.port),
    IMAP_TLS: 'false',
    IMAP_MASTER_USER: 'master',
    IMAP_MASTER_PASSWORD: 'secret',
  })
  app = host.app
})
afterAll(async () => {
  await host.stop()
  await imap.stop()
})

/** The received requests for the text of messages, by UID. */
const downloads = () =>
  imap.seen
    .flatMap((command) => /^UID FETCH (\d+) .*BODY\.PEEK/i.exec(command)?.[1] ?? [])
    .map(Number)

it('leaves room to live mail while an import waits for the storage, and goes on after it', async () => {
  const acme = await host.adminOf('acme')
  await host.s3.away()
  const reason = 'asked for by the auditor'
  const job = { kind: 'import', email: acme.email, reason }
  const started = await acme.post(`${ARCHIVE}/jobs`, job)
  expect(started.status, started.text).toBe(201)
  const { id } = started.body.data
  const current = async () => (await acme.get(`${ARCHIVE}/jobs/${id}`)).body.data

  const waiting = await waitFor(async () => {
    const found = await current()
    return /no room/.test(found.error ?? '') && found
  })
  expect(waiting).toMatchObject({ status: 'running', total: MESSAGES + 1, failed: 0 })
  expect(waiting.done).toBeGreaterThan(1)
  expect(waiting.done).toBeLessThan(MESSAGES / 2)
  const pause = await app.core.db
    .selectFrom('archive_jobs')
    .select(['lease_until'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  expect(Date.parse(pause.lease_until)).toBeGreaterThan(Date.now() + 60_000)
  for (const subject of ['live', 'also live']) {
    const text = letter(subject, randomBytes(MESSAGE_BYTES).toString('hex'))
    expect(await host.pass(acme.email, text)).toMatch(/^250 /)
  }

  const before = downloads().length
  await host.s3.back()
  await waitFor(async () => {
    await app.core.db
      .updateTable('archive_jobs')
      .set({ lease_until: '-infinity' })
      .where('id', '=', id)
      .where('lease_owner', 'is', null)
      .execute()
    const found = await current()
    expect(found.done).toBeLessThanOrEqual(found.total)
    return found.status === 'completed'
  })
  expect(await current()).toMatchObject({
    total: MESSAGES + 1,
    done: MESSAGES + 1,
    added: MESSAGES + 1,
    failed: 0,
  })
  await uploaded(acme, MESSAGES + 3)
  // The folder before the INBOX had one message.
  const again = downloads().slice(before)
  expect(again.filter((uid) => uid < waiting.done)).toEqual([])
  expect(again.at(-1)).toBe(MESSAGES)
})
