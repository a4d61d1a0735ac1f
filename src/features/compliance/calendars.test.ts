import { afterAll, beforeAll, expect, it } from 'vitest'
import { card, davClient, event, startDav } from '../../../test/support/dav.ts'
import { type Doveadm, startDoveadm } from '../../../test/support/doveadm.ts'
import { startPlainImap } from '../../../test/support/plain-imap.ts'
import { startSieveServer } from '../../../test/support/sieve-server.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { unzip } from '../../../test/support/zip.ts'
import { takeJob } from '../../jobs/jobs.ts'
import { DAY_MS } from '../../lib/time.ts'
import { releaseKeptObjects } from '../caldav/caldav.jobs.ts'
import { eraseDue } from './erasure/erasure.jobs.ts'

const PATH = '/api/v1/compliance'
const REASON = 'The court has asked for it'

let app: Awaited<ReturnType<typeof startDav>>['app']
let doveadm: Doveadm
let imap: Awaited<ReturnType<typeof startPlainImap>>
let sieve: Awaited<ReturnType<typeof startSieveServer>>
let acme: Awaited<ReturnType<typeof app.tenant>>
let globex: Awaited<ReturnType<typeof app.tenant>>
let owner: Awaited<ReturnType<typeof app.operator>>
beforeAll(async () => {
  doveadm = await startDoveadm('key')
  imap = await startPlainImap()
  sieve = await startSieveServer()
  const env = {
    DOVEADM_URL: doveadm.url,
    DOVEADM_API_KEY: 'key',
    IMAP_HOST: '127.0.0.1',
    IMAP_PORT: String(imap.port),
    IMAP_TLS: 'false',
    ...sieve.env(),
  }
  app = (await startDav(env)).app
  // Versions of a hold that has ended go within an hour; here the person goes first.
  await takeJob(app.core.db, releaseKeptObjects)
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  owner = await app.operator('owner')
  for (const tenant of [acme, globex]) await fill(tenant)
})
afterAll(async () => {
  await app?.stop()
  await sieve?.stop()
  await imap?.stop()
  await doveadm?.stop()
})

const holds: string[] = []

/** Stores an event and a card as programs do, and a version of each that a legal hold keeps. */
async function fill({ email, accountId, organizationId }: typeof acme): Promise<void> {
  const me = davClient(app, email)
  const store = async (note: string) => {
    const objects = {
      [`calendars/${accountId}/calendar/dentist.ics`]: event(
        'dentist',
        '20260301T100000Z',
        `SUMMARY:${note} date of ${email}`,
      ),
      [`addressbooks/${accountId}/contacts/ann.vcf`]: card('ann', `${note} Ann of ${email}`),
    }
    for (const [path, text] of Object.entries(objects)) {
      expect((await me.put(`/dav/${path}`, text)).status).toBeLessThan(300)
    }
  }
  await store('first')
  const hold = await owner.post(`${PATH}/legal-holds`, {
    organization_id: organizationId,
    name: `Case of ${email}`,
    reason: REASON,
    custodians: [email],
  })
  await store('second')
  holds.push(hold.body.data.id)
}

const TABLES = ['dav_collections', 'dav_objects', 'dav_kept_objects'] as const

/** The rows about a mailbox in each table of calendars and contacts, as text. */
async function rowsOf({ email, accountId }: typeof acme) {
  const { db } = app.core
  const own = db.selectFrom('dav_collections').select('id').where('account_id', '=', accountId)
  const rows = {
    dav_collections: await db
      .selectFrom('dav_collections')
      .selectAll()
      .where('account_id', '=', accountId)
      .execute(),
    dav_objects: await db
      .selectFrom('dav_objects')
      .selectAll()
      .where((eb) => eb.or([eb('collection_id', 'in', own), eb('data', 'like', `%${email}%`)]))
      .execute(),
    dav_kept_objects: await db
      .selectFrom('dav_kept_objects')
      .selectAll()
      .where((eb) => eb.or([eb('email', '=', email), eb('data', 'like', `%${email}%`)]))
      .execute(),
  }
  return TABLES.map((table) => rows[table].length)
}

it('exports calendars and contacts of a person, with versions that a hold has kept, and of no other', async () => {
  const path = `${PATH}/data-export/${acme.email}`
  await owner.post(path, { requested_by: 'jane', export_type: 'full' })
  const done = await waitFor(async () => {
    const [newest] = (await owner.get(`${path}/status`)).body.data.items
    return newest?.status === 'completed' && newest
  })
  const cookie = [...owner.jar].map(([name, value]) => `${name}=${value}`).join('; ')
  const archive = await fetch(app.base + done.download_url, { headers: { cookie } })
  const entries = unzip(Buffer.from(await archive.arrayBuffer()))
  const records = (table: string) =>
    (entries.get(`records/${table}.ndjson`)?.toString() ?? '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
  const texts = (table: string) =>
    records(table)
      .map(({ data }) => data)
      .sort()
  expect(texts('dav_objects')).toEqual([
    expect.stringContaining(`second date of ${acme.email}`),
    expect.stringContaining(`second Ann of ${acme.email}`),
  ])
  expect(texts('dav_kept_objects')).toEqual([
    expect.stringContaining(`first date of ${acme.email}`),
    expect.stringContaining(`first Ann of ${acme.email}`),
  ])
  expect(records('dav_collections').map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(['calendar', 'tasks', 'contacts']),
  )
  expect(done.contents).toMatchObject({ dav_objects: 2, dav_kept_objects: 2, dav_collections: 3 })
  for (const table of TABLES) {
    expect(entries.get(`records/${table}.ndjson`)?.toString()).not.toContain(globex.email)
  }
})

it('erases calendars and contacts of a person, and of no other', async () => {
  for (const id of holds) await owner.post(`${PATH}/legal-holds/${id}/release`, { reason: REASON })
  expect(await rowsOf(acme)).toEqual([3, 2, 2])
  await owner.post(`${PATH}/data-erasure/${acme.email}`, { requested_by: 'jane' })
  app.clock.advance(31 * DAY_MS)
  owner = await app.operator('owner')
  await eraseDue.run(app.core)
  const { body } = await owner.get(`${PATH}/data-erasure/${acme.email}/status`)
  expect(body.data.items[0]).toMatchObject({
    status: 'hard_deleted',
    removed: { calendars: { objects: 2, collections: 3, kept_objects: 2 } },
  })
  expect(await rowsOf(acme)).toEqual([0, 0, 0])
  expect(await rowsOf(globex)).toEqual([3, 2, 2])
})
