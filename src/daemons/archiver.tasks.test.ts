import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../test/support/app.ts'
import {
  ARCHIVE,
  type ArchiveHost,
  letter,
  restore,
  search,
  startArchiveHost,
  type Tenant,
  uploaded,
} from '../../test/support/archive-host.ts'
import { startPlainImap } from '../../test/support/plain-imap.ts'
import { waitFor } from '../../test/support/wait.ts'
import { unzip } from '../../test/support/zip.ts'
import { exportArchive } from '../features/archive/export-archive.ts'
import { unpack } from '../features/archive/sealing/packing.ts'
import { openStorages } from '../features/archive/storage/storage.ts'
import { ageOpen, newIdentity } from '../lib/age.ts'

const BECAUSE = { reason: 'asked for by the auditor' }

const DATE = '02-Jan-2026 03:04:05 +0000'
const stored = (text: string) => ({ text, flags: [], date: DATE })
/** The mail that every mailbox has. */
const MAILBOX = {
  INBOX: {
    messages: [
      stored('From: x@elsewhere.test\r\nSubject: old news\r\n\r\nhello\r\n'),
      stored('From: x@elsewhere.test\r\nSubject: older news\r\n\r\nna\xefve\r\n'),
    ],
  },
  Copies: {
    messages: [stored('From: x@elsewhere.test\r\nSubject: old news\r\n\r\nhello\r\n')],
  },
  Trash: { use: '\\Trash', messages: [stored('Subject: thrown away\r\n\r\nx\r\n')] },
}

let host: ArchiveHost
let app: App
let acme: Tenant
let globex: Tenant
let imap: Awaited<ReturnType<typeof startPlainImap>>
let tenants = 0
beforeAll(async () => {
  imap = await startPlainImap({ folders: MAILBOX })
  host = await startArchiveHost({
    IMAP_HOST: '127.0.0.1',
    IMAP_PORT: String(imap.port),
    IMAP_TLS: 'false',
    IMAP_MASTER_USER: 'master',
    IMAP_MASTER_PASSWORD: 'secret',
  })
  app = host.app
})
beforeEach(async () => {
  tenants++
  acme = await host.adminOf(`acme${tenants}`)
  globex = await host.adminOf(`globex${tenants}`)
})
afterAll(async () => {
  await host.stop()
  await imap.stop()
})

it('seals the archive anew for a key that only the organization has', async () => {
  await host.pass(acme.email, letter('one'))
  await host.pass(acme.email, letter('two'))
  await uploaded(acme, 2)
  const before = new Set(host.objectsOf(acme).map(([key]) => key))
  const own = newIdentity()
  const bad = await acme.put(`${ARCHIVE}/settings`, { recipient: 'age1nonsense', ...BECAUSE })
  expect(bad).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'recipient'] }] } })
  const set = await acme.put(`${ARCHIVE}/settings`, { recipient: own.recipient.text, ...BECAUSE })
  expect(set.body.data).toMatchObject({ recipient: own.recipient.text, own_recipient: true })
  const started = await acme.post(`${ARCHIVE}/jobs`, { kind: 'rekey', ...BECAUSE })
  expect(started.status, started.text).toBe(201)
  const job = await waitFor(async () => {
    const { data } = (await acme.get(`${ARCHIVE}/jobs/${started.body.data.id}`)).body
    return data.status === 'completed' && data
  })
  expect(job).toMatchObject({ total: 2, done: 2, added: 2, failed: 0 })
  await waitFor(() => host.objectsOf(acme).length === 2)
  for (const [key, sealed] of host.objectsOf(acme)) {
    expect(before.has(key)).toBe(false)
    const message = await unpack(await ageOpen([own], sealed), key)
    expect(message.toString()).toContain('a secret sentence')
  }
  const [found] = await search(acme)
  expect((await restore(acme, found?.id)).status).toBe(200)
  expect((await globex.get(`${ARCHIVE}/jobs/${started.body.data.id}`)).status).toBe(404)
})

it('imports the mail of a mailbox once, with its dates and its progress', async () => {
  const start = () =>
    acme.post(`${ARCHIVE}/jobs`, { kind: 'import', email: acme.email, ...BECAUSE })
  const done = (id: string) =>
    waitFor(async () => {
      const { data } = (await acme.get(`${ARCHIVE}/jobs/${id}`)).body
      return data.status === 'completed' && data
    })
  const foreign = { kind: 'import', email: globex.email, ...BECAUSE }
  expect((await acme.post(`${ARCHIVE}/jobs`, foreign)).status).toBe(404)
  const first = await done((await start()).body.data.id)
  expect(first).toMatchObject({ total: 3, done: 3, added: 2, failed: 0, email: acme.email })
  const again = await done((await start()).body.data.id)
  expect(again).toMatchObject({ done: 3, added: 0 })
  const found = await search(acme)
  expect(found.map((one) => one.subject).sort()).toEqual(['old news', 'older news'])
  expect(found[0]).toMatchObject({ received_at: '2026-01-02T03:04:05.000Z', direction: 'inbound' })
})

it('writes the archive of an organization to a file, and names damaged messages', async () => {
  await host.pass(acme.email, letter('whole'))
  await host.pass(acme.email, letter('broken'))
  const [broken] = await uploaded(acme, 2)
  host.s3.damage(broken?.id ?? '', (bytes) => bytes.subarray(0, -1))
  const storages = openStorages(app.core)
  const path = join(app.dataDir, 'export.zip')
  const counts = await exportArchive(
    { ...app.core, storages },
    { organizationId: acme.organizationId, path, reason: 'moves away' },
  )
  storages.close()
  expect(counts).toEqual({ messages: 1, damaged: 1 })
  const files = await unzip(readFileSync(path))
  const names = [...files.keys()]
  expect(names).toHaveLength(2)
  const lines = (files.get('index.ndjson') ?? '').toString().trim().split('\n')
  expect(lines.map((line) => JSON.parse(line)).filter((one) => one.damaged)).toMatchObject([
    { id: broken?.id },
  ])
})
