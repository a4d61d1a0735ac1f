import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN } from '../../test/support/app.ts'
import {
  ARCHIVE,
  type ArchiveHost,
  letter,
  OUTSIDE,
  restore,
  search,
  spoolOf,
  startArchiveHost,
  type Tenant,
  uploaded,
} from '../../test/support/archive-host.ts'
import { waitFor } from '../../test/support/wait.ts'
import { archiveKeys } from '../features/archive/sealing/keys.ts'
import { unpack } from '../features/archive/sealing/packing.ts'
import { openStorages } from '../features/archive/storage/storage.ts'
import { checkSample } from '../features/archive/tasks/read-back.ts'
import { erasers } from '../features/compliance/erasure/erasers.ts'
import { applyRetention } from '../features/compliance/retention/retention.jobs.ts'
import { contentStages } from '../features/index.ts'
import { quarantineService } from '../features/message-trace/quarantine.service.ts'
import { ageOpen } from '../lib/age.ts'
import { DAY_MS } from '../lib/time.ts'

const BECAUSE = { reason: 'asked for by the auditor' }

let host: ArchiveHost
let app: App
let acme: Tenant
let globex: Tenant
let tenants = 0
beforeAll(async () => {
  host = await startArchiveHost()
  app = host.app
})
beforeEach(async () => {
  app.clock.reset()
  tenants++
  acme = await host.adminOf(`acme${tenants}`)
  globex = await host.adminOf(`globex${tenants}`)
  host.behind.received.length = 0
})
afterAll(() => host.stop())

const only = async (tenant: Tenant, query = '') => {
  const found = await search(tenant, query)
  expect(found).toHaveLength(1)
  return found[0] as Record<string, string> & { recipients: string[] }
}

it('runs after pacing and before tracking', async () => {
  const names = (await contentStages(app.core)).map(({ name }) => name)
  expect(names.indexOf('archive')).toBe(names.indexOf('pacing') + 1)
  expect(names.indexOf('tracking')).toBe(names.indexOf('archive') + 1)
})

it('archives one sealed object for all recipients and returns the same bytes', async () => {
  const joe = `joe@${acme.domain}`
  const text = letter('Offer für Ada', 'caf\xe9 \x00 secret')
  expect(await host.pass([acme.email, joe], text)).toMatch(/^250 /)
  const [found] = await uploaded(acme)
  expect(found).toMatchObject({ sender: OUTSIDE, direction: 'inbound', subject: 'Offer für Ada' })
  expect(found?.recipients).toEqual([acme.email, joe].sort())
  const [[key, sealed] = ['', Buffer.alloc(0)], ...more] = host.objectsOf(acme)
  expect(more).toEqual([])
  expect(key).toMatch(/^archive\/\w+\/\d{4}\/\d\d\/\d\d\/\w{26}\.eml\.(zst|gz)\.age$/)
  expect(sealed.toString('latin1')).toMatch(
    /^age-encryption\.org\/v1\n-> X25519 .*\n.*\n-> X25519 /,
  )
  expect(sealed.includes('secret')).toBe(false)
  // The file is removed after the message counts as uploaded.
  await expect.poll(() => spoolOf(app)).toEqual([])
  const delivered = host.behind.received[0]?.content ?? ''
  const answer = await restore(acme, found?.id)
  expect(answer.headers['content-type']).toBe('message/rfc822')
  expect(answer.text).toBe(Buffer.from(delivered, 'latin1').toString('utf8'))
  const { recipient } = (await acme.get(`${ARCHIVE}/settings`)).body.data
  const keys = await archiveKeys(app.core).identitiesFor(acme.organizationId)
  const own = keys.filter((one) => one.recipient.text === recipient)
  expect(own).toHaveLength(1)
  for (const identity of keys) {
    const message = await unpack(await ageOpen([identity], sealed), key)
    expect(message.toString('latin1')).toBe(delivered)
  }
})

it('emits events for a stored and a restored message, and records who restored it and why', async () => {
  await host.pass(acme.email, letter('one'))
  const [found] = await uploaded(acme)
  await restore(acme, found?.id)
  const events = await app.core.db
    .selectFrom('events')
    .select(['event', 'data'])
    .where('org_id', '=', acme.organizationId)
    .where('event', 'like', 'archive.%')
    .orderBy('id')
    .execute()
  expect(events).toMatchObject([
    {
      event: 'archive.stored',
      data: { archive_id: found?.id, storage_type: 's3', legal_hold: false },
    },
    { event: 'archive.restored', data: { archive_id: found?.id, message_id: found?.message_id } },
  ])
  const trail = await app.core.db
    .selectFrom('compliance_audit')
    .select(['action', 'details', 'performed_by'])
    .where('organization_id', '=', acme.organizationId)
    .execute()
  expect(trail).toMatchObject([
    { action: 'archive.restored', details: { ...BECAUSE, archive_id: found?.id } },
  ])
})

it('archives mail between tenants for both, and shows each only its own', async () => {
  expect(await host.pass(globex.email, letter('deal', 'x', acme.email), acme.email)).toMatch(
    /^250 /,
  )
  const sent = await only(acme)
  const got = await only(globex)
  expect([sent.direction, got.direction]).toEqual(['outbound', 'inbound'])
  expect(sent.id).not.toBe(got.id)
  const alias = `sales@${globex.domain}`
  await globex.post('/api/v1/aliases/add', { source: alias, destination: globex.email })
  await host.pass(alias, letter('by alias', 'x', acme.email), acme.email)
  expect((await only(acme, 'subject=alias')).recipients).toEqual([alias])
  const behindAlias = (await only(globex, 'subject=alias')).recipients
  expect(behindAlias).toContain(globex.email)
  for (const [method, path] of [
    ['GET', `${ARCHIVE}/${sent.id}`],
    ['POST', `${ARCHIVE}/${sent.id}/restore`],
    ['DELETE', `${ARCHIVE}/${sent.id}`],
  ] as const) {
    const answer = await globex.call(method, path, method === 'GET' ? undefined : BECAUSE)
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Archived message not found' } })
  }
})

it('searches subject, addresses, direction and dates', async () => {
  await host.pass(acme.email, letter('Quarterly report'))
  await host.pass('friend@far.test', letter('Holiday plans', 'x', acme.email), acme.email)
  for (const [query, subject] of [
    ['q=quart', 'Quarterly report'],
    ['q=elsewhere%20report', 'Quarterly report'],
    ['q=far', 'Holiday plans'],
    ['subject=holi', 'Holiday plans'],
    [`sender=${OUTSIDE.toUpperCase()}`, 'Quarterly report'],
    ['recipient=friend@far.test', 'Holiday plans'],
    ['direction=outbound', 'Holiday plans'],
  ]) {
    expect(await only(acme, query)).toMatchObject({ subject })
  }
  expect(await search(acme, 'subject=elsewhere')).toEqual([])
  expect(await search(acme, 'q=%27%20%7C%20!')).toHaveLength(2)
  const tomorrow = new Date(Date.now() + DAY_MS).toISOString()
  expect(await search(acme, `start_date=${tomorrow}`)).toEqual([])
  expect(await search(acme, `end_date=${tomorrow}`)).toHaveLength(2)
  expect((await acme.get(`${ARCHIVE}/search?start_date=soon`)).status).toBe(422)
})

it('asks operators for an organization, a reason and the role owner, and records a search', async () => {
  await host.pass(acme.email, letter('private'))
  const owner = await app.operator('owner')
  const admin = await app.operator('admin')
  const whose = `organization_id=${acme.organizationId}`
  const reason = 'reason=court+order+17%2F26'
  expect((await owner.get(`${ARCHIVE}/search`)).status).toBe(422)
  expect((await owner.get(`${ARCHIVE}/search?${whose}`)).status).toBe(422)
  expect((await admin.get(`${ARCHIVE}/search?${whose}&${reason}`)).status).toBe(403)
  const found = await owner.get(`${ARCHIVE}/search?${whose}&${reason}`)
  expect(found.body.data.items).toMatchObject([{ subject: 'private' }])
  const trail = await app.core.db
    .selectFrom('compliance_audit')
    .select(['action', 'details', 'performed_by'])
    .where('organization_id', '=', acme.organizationId)
    .execute()
  expect(trail).toEqual([
    {
      action: 'archive.searched',
      details: { reason: 'court order 17/26' },
      performed_by: owner.email,
    },
  ])
})

it('never returns a message that does not match its hash', async () => {
  for (const subject of ['one', 'two', 'whole']) await host.pass(acme.email, letter(subject))
  const [whole, two, one] = await uploaded(acme, 3)
  host.s3.damage(one?.id ?? '', (bytes) => {
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20)
    return bytes
  })
  const corrupt = { status: 500, body: { error_code: 'ARCHIVE_CORRUPT' } }
  expect(await restore(acme, one?.id)).toMatchObject(corrupt)
  // An object of the right form with other content, as an attacker with the keys could write it.
  const [, other] = host.objectsOf(acme).find(([key]) => key.includes(whole?.id ?? '-')) ?? []
  host.s3.damage(two?.id ?? '', () => other as Buffer)
  expect(await restore(acme, two?.id)).toMatchObject(corrupt)
  const storages = openStorages(app.core)
  await app.core.db
    .deleteFrom('archived_messages')
    .where('organization_id', '<>', acme.organizationId)
    .execute()
  await checkSample(app.core, storages)
  storages.close()
  const operator = await app.operator('support')
  const { last_check } = (await operator.get(`${ARCHIVE}/spool`)).body.data
  expect(last_check).toMatchObject({ checked: 3, damaged: 2 })
})

it('archives released and diverted mail', async () => {
  const id = await app.core.db.transaction().execute((tx) =>
    quarantineService(app.core).hold(tx, {
      organization_id: acme.organizationId,
      message_id: '<held@far.test>',
      queue_id: null,
      sender: OUTSIDE,
      recipient: acme.email,
      subject: 'Cheap',
      reason: 'spam',
      headers: {},
      content: Buffer.from('Subject: Cheap\r\n\r\nheld back\r\n'),
    }),
  )
  expect(await search(acme)).toEqual([])
  const admin = await app.operator('admin')
  const released = await admin.post(`/api/v1/message-trace/quarantine/${id}/release`, BECAUSE)
  expect(released.status).toBe(200)
  expect(await only(acme)).toMatchObject({ subject: 'Cheap', recipients: [acme.email] })
  const rule = await acme.post('/api/v1/transport-rules/', {
    name: 'divert',
    conditions: [{ field: 'subject', operator: 'contains', value: 'invoice' }],
    actions: [{ type: 'redirect', params: { address: globex.email } }],
  })
  expect(rule.status, rule.text).toBe(201)
  expect(await host.pass(acme.email, letter('invoice 7'))).toMatch(/^250 /)
  expect(await only(acme, 'q=invoice')).toMatchObject({ recipients: [globex.email] })
  expect(await only(globex)).toMatchObject({ subject: 'invoice 7', recipients: [globex.email] })
})

it('keeps held messages and deletes others, with their objects', async () => {
  const joe = `joe@${acme.domain}`
  await host.pass(acme.email, letter('for the owner'))
  await host.pass(joe, letter('for joe'))
  await uploaded(acme, 2)
  const owner = await app.operator('owner')
  const hold = await owner.post('/api/v1/compliance/legal-holds', {
    organization_id: acme.organizationId,
    name: 'Case 12',
    custodians: [joe],
    ...BECAUSE,
  })
  expect(hold.status, hold.text).toBe(201)
  const held = await only(acme, 'q=joe&subject=joe')
  const refused = await acme.delete(`${ARCHIVE}/${held.id}`, BECAUSE)
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'LEGAL_HOLD' } })
  await owner.put(`/api/v1/compliance/retention-policies/${acme.organizationId}`, {
    retention_days: 30,
    ...BECAUSE,
  })
  app.clock.advance(60 * DAY_MS)
  await applyRetention.run(app.core)
  app.clock.reset()
  expect(await only(acme)).toMatchObject({ id: held.id })
  await waitFor(() => host.objectsOf(acme).length === 1)
  await owner.post(`/api/v1/compliance/legal-holds/${hold.body.data.id}/release`, BECAUSE)
  expect((await acme.delete(`${ARCHIVE}/${held.id}`, BECAUSE)).status).toBe(200)
  await waitFor(() => host.objectsOf(acme).length === 0)
})

it('erases a person, except from messages that concern colleagues', async () => {
  const joe = `joe@${acme.domain}`
  await host.pass(acme.email, letter('alone'))
  await host.pass([acme.email, joe], letter('both'))
  await host.pass('friend@far.test', letter('sent', 'x', acme.email), acme.email)
  const eraser = erasers.findLast(({ name }) => name === 'archive')
  const person = {
    email: acme.email,
    account_id: acme.accountId,
    organization_id: acme.organizationId,
  }
  const counts: object[] = []
  await eraser?.erase(app.core, person, async (_db, added) => void counts.push(added))
  expect(counts[0]).toEqual({ messages: 2, renamed: 1 })
  const left = await only(acme)
  expect(left.subject).toBe('both')
  expect(left.recipients).toEqual([expect.stringMatching(/^erased-/), joe])
  expect(await search(acme, `recipient=${acme.email}`)).toEqual([])
  expect(await search(acme, 'q=admin')).toEqual([])
  const person2 = { email: OUTSIDE, account_id: null, organization_id: null }
  await eraser?.erase(app.core, person2, async () => {})
  expect((await only(acme)).sender).toMatch(/^erased-/)
})

it('stops archiving an organization that switched it off', async () => {
  const off = await acme.put(`${ARCHIVE}/settings`, { enabled: false, ...BECAUSE })
  expect(off.body.data).toMatchObject({ available: true, enabled: false, messages: 0 })
  await host.pass(globex.email, letter('deal', 'x', acme.email), acme.email)
  expect(await search(acme)).toEqual([])
  await only(globex)
})

it('takes messages of other services once, and tells how many wait', async () => {
  const headers = { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'message/rfc822' }
  const path = `/archive?recipient=${acme.email}&sender=${OUTSIDE}`
  const raw = Buffer.from('Subject: h\xe9\r\n\r\n8-bit', 'latin1')
  const first = await app.send('POST', path, { headers, raw })
  expect(first.body).toMatchObject({ status: 'ok', is_new: true })
  const { stored_size } = await app.core.db
    .selectFrom('archived_messages')
    .select('stored_size')
    .where('id', '=', first.body.archive_id)
    .executeTakeFirstOrThrow()
  expect(['spool', 's3']).toContain(first.body.storage_type)
  expect(first.body.compressed_size).toBe(stored_size)
  const json = { recipient: `joe@${acme.domain}`, sender: OUTSIDE, content: raw.toString('base64') }
  const again = await app.send('POST', '/archive', {
    headers: { 'x-internal-token': INTERNAL_TOKEN },
    body: json,
  })
  expect(again.body).toMatchObject({
    is_new: false,
    archive_id: first.body.archive_id,
    compressed_size: stored_size,
  })
  expect((await only(acme)).recipients).toHaveLength(2)
  const drained = await app.send('POST', '/archive/spool/drain', {
    headers: { 'x-internal-token': INTERNAL_TOKEN },
  })
  expect(drained.body).toMatchObject({ status: 'ok', spools: [{ messages: 0 }] })
  const stored = await app.send('POST', path, { headers, raw })
  expect(stored.body).toMatchObject({ is_new: false, storage_type: 's3' })
  expect((await app.send('POST', path, { raw })).status).toBe(401)
})
