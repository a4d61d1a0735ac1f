import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { App } from '../../test/support/app.ts'
import {
  ARCHIVE,
  type ArchiveHost,
  letter,
  startArchiveHost,
  type Tenant,
  uploaded,
} from '../../test/support/archive-host.ts'
import { waitFor } from '../../test/support/wait.ts'
import { archiveMetrics } from '../features/archive/archive.metrics.ts'
import { archiveDeletions } from '../features/platform/alerts/host-figures.ts'
import { HOUR_MS, MINUTE_MS } from '../lib/time.ts'

const BECAUSE = { reason: 'asked for by the auditor' }

let host: ArchiveHost
let app: App
let acme: Tenant
let tenants = 0
beforeAll(async () => {
  host = await startArchiveHost()
  app = host.app
})
beforeEach(async () => {
  await host.s3.back()
  app.clock.reset()
  tenants++
  acme = await host.adminOf(`acme${tenants}`)
})
afterAll(() => host.stop())

const status = async () => {
  const operator = await app.operator('support')
  return (await operator.get(`${ARCHIVE}/spool`)).body.data
}

const metric = async (name: string) => {
  const text = await archiveMetrics(app.core, { uploaded: 0, failed: 0 })
  return Number(new RegExp(`^archiver_${name} (.*)$`, 'm').exec(text)?.[1])
}

const deleteAll = async (messages: { id?: string }[]) => {
  for (const { id } of messages) {
    expect((await acme.delete(`${ARCHIVE}/${id}`, BECAUSE)).status).toBe(200)
  }
}

it('deletes objects of S3 while one of a folder that is no longer configured cannot be', async () => {
  await host.pass(acme.email, letter('of the folder'))
  await host.pass(acme.email, letter('of the bucket'))
  const [inBucket, inFolder] = await uploaded(acme, 2)
  await app.core.db
    .updateTable('archived_messages')
    .set({ storage_type: 'local' })
    .where('id', '=', inFolder?.id ?? '')
    .execute()
  await deleteAll([{ id: inFolder?.id ?? '' }, { id: inBucket?.id ?? '' }])
  await waitFor(() => !host.objectsOf(acme).some(([key]) => key.includes(inBucket?.id ?? '-')))
  expect(await waitFor(async () => (await status()).deletions === 1 && status())).toMatchObject({
    deletions: 1,
    overdue_deletions: 0,
  })
  expect(await metric('deletions_overdue')).toBe(0)
  app.clock.advance(3 * HOUR_MS)
  expect(await metric('deletions_overdue')).toBe(1)
  expect(await archiveDeletions(app.core)).toBe(1)
  expect((await status()).overdue_deletions).toBe(1)
  await app.core.db.deleteFrom('archive_deletions').execute()
})

it('deletes other objects while the storage refuses one, which is deleted later', async () => {
  await host.pass(acme.email, letter('refused'))
  await host.pass(acme.email, letter('taken'))
  const [taken, refused] = await uploaded(acme, 2)
  host.s3.decide((method, url) =>
    method === 'DELETE' && url.includes(refused?.id ?? '-') ? 'refused' : undefined,
  )
  await deleteAll([{ id: refused?.id ?? '' }, { id: taken?.id ?? '' }])
  await waitFor(() => host.objectsOf(acme).length === 1)
  expect(host.objectsOf(acme)[0]?.[0]).toContain(refused?.id)
  await host.s3.back()
  app.clock.advance(2 * MINUTE_MS)
  await waitFor(() => host.objectsOf(acme).length === 0)
  await waitFor(async () => (await status()).deletions === 0)
})

it('uploads other files while one of the spool cannot be read, and that one later', async () => {
  await host.s3.away()
  for (const subject of ['bad', 'good', 'better']) await host.pass(acme.email, letter(subject))
  const waiting = (await acme.get(`${ARCHIVE}/search`)).body.data.items as { id: string }[]
  const bad = waiting.map(({ id }) => id).sort()[0] ?? ''
  const path = join(app.dataDir, 'archive-spool', `${bad}.eml.zst.age`)
  const content = readFileSync(path)
  // The tests run as root, which may read every file.
  rmSync(path)
  mkdirSync(path)
  await host.s3.back()
  await waitFor(() => host.objectsOf(acme).length === 2)
  const spool = await waitFor(async () => {
    const [one] = (await status()).spools
    return one.messages === 1 && one.problem?.includes('tried again') && one
  })
  expect(spool.problem).toBe('1 files cannot be uploaded and are tried again, see the log')
  rmdirSync(path)
  writeFileSync(path, content)
  app.clock.advance(2 * MINUTE_MS)
  await uploaded(acme, 3)
  await waitFor(async () => (await status()).spools[0].problem === null)
})

it('uploads other files while the storage refuses one, and drains when it refused all', async () => {
  await host.s3.away()
  for (const subject of ['one', 'two', 'three']) await host.pass(acme.email, letter(subject))
  const waiting = (await acme.get(`${ARCHIVE}/search`)).body.data.items as { id: string }[]
  const [first = ''] = waiting.map(({ id }) => id).sort()
  await host.s3.back()
  host.s3.decide((_method, url) => (url.includes(first) ? 'refused' : undefined))
  await waitFor(() => host.objectsOf(acme).length === 2)
  host.s3.decide(() => 'refused')
  await host.pass(acme.email, letter('four'))
  await host.pass(acme.email, letter('five'))
  await waitFor(async () => (await status()).spools[0].problem !== null)
  await host.s3.back()
  app.clock.advance(2 * MINUTE_MS)
  await uploaded(acme, 5)
})

it('counts what the spool and the storage have taken', async () => {
  const spooled = await metric('archive_messages_total\\{storage="spool"\\}')
  const inS3 = await metric('archive_messages_total\\{storage="s3"\\}')
  await host.s3.away()
  await host.pass(acme.email, letter('waits'))
  expect(await metric('archive_messages_total\\{storage="spool"\\}')).toBe(spooled + 1)
  expect(await metric('archive_messages_total\\{storage="s3"\\}')).toBe(inS3)
  expect(await metric('archive_spool_depth')).toBe(1)
  await host.s3.back()
  await uploaded(acme)
  expect(await metric('archive_messages_total\\{storage="s3"\\}')).toBe(inS3 + 1)
  expect(await metric('archive_spool_depth')).toBe(0)
})
