import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, INTERNAL_TOKEN, startApp } from '../../test/support/app.ts'
import { startPlainImap } from '../../test/support/plain-imap.ts'
import { startReinjectSink } from '../../test/support/reinject-sink.ts'
import { startS3 } from '../../test/support/s3.ts'
import { openSmtp } from '../../test/support/smtp-client.ts'
import { waitFor } from '../../test/support/wait.ts'
import { unzip } from '../../test/support/zip.ts'
import { archiveStage } from '../features/archive/archive.stage.ts'
import { exportArchive } from '../features/archive/export-archive.ts'
import { archiveKeys } from '../features/archive/sealing/keys.ts'
import { unpack } from '../features/archive/sealing/packing.ts'
import { sweepSpool } from '../features/archive/spool/sweep.ts'
import { openStorages } from '../features/archive/storage/storage.ts'
import { checkSample } from '../features/archive/tasks/read-back.ts'
import { erasers } from '../features/compliance/erasure/erasers.ts'
import { applyRetention } from '../features/compliance/retention/retention.jobs.ts'
import { contentStages } from '../features/index.ts'
import { quarantineService } from '../features/message-trace/quarantine.service.ts'
import { archiveWaiting } from '../features/platform/alerts/host-figures.ts'
import { ageOpen, newIdentity } from '../lib/age.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/time.ts'
import { originKey } from '../mail/origin.ts'
import { archiver } from './archiver.ts'
import { startContentFilter } from './content-filter.ts'

const BASE = '/api/v1/archive'
const BECAUSE = { reason: 'asked for by the auditor' }
const OUTSIDE = 'x@elsewhere.test'

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

type Tenant = Awaited<ReturnType<App['tenant']>>

let app: App
let acme: Tenant
let globex: Tenant
let s3: Awaited<ReturnType<typeof startS3>>
let imap: Awaited<ReturnType<typeof startPlainImap>>
let behind: Awaited<ReturnType<typeof startReinjectSink>>
let filter: Awaited<ReturnType<typeof startContentFilter>>
let tenants = 0
beforeAll(async () => {
  s3 = await startS3()
  behind = await startReinjectSink()
  imap = await startPlainImap({ folders: MAILBOX })
  const port = String(behind.port)
  app = await startApp({
    env: {
      ...s3.env,
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: port,
      MAIL_FILTERED_PORT: port,
      CONTENT_FILTER_PORT: '0',
      IMAP_HOST: '127.0.0.1',
      IMAP_PORT: String(imap.port),
      IMAP_TLS: 'false',
      IMAP_MASTER_USER: 'master',
      IMAP_MASTER_PASSWORD: 'secret',
    },
    daemons: [archiver],
  })
  // Rspamd runs in the mail lane only.
  const stages = (await contentStages(app.core)).filter(({ name }) => name !== 'spam')
  filter = await startContentFilter(app.core, stages)
})
beforeEach(async () => {
  await s3.back()
  app.clock.reset()
  tenants++
  acme = await adminOf(`acme${tenants}`)
  globex = await adminOf(`globex${tenants}`)
  behind.received.length = 0
})
afterAll(async () => {
  await filter.stop()
  await app.stop()
  await behind.stop()
  await imap.stop()
  await s3.stop()
})

const adminOf = async (name: string): Promise<Tenant> => {
  const tenant = await app.tenant(name)
  const key = await app.key(tenant.organizationId, { permissions: { admin_access: true } })
  return { ...tenant, ...key }
}
const letter = (subject: string, body = 'a secret sentence', from = OUTSIDE) =>
  `From: ${from}\nTo: someone\nSubject: ${subject}\nMessage-ID: <${randomBytes(6).toString('hex')}@t.test>\n\n${body}`

/** Sends a message as Postfix does; with a login it is outgoing mail. */
async function pass(to: string | string[], text: string, login?: string) {
  const postfix = await openSmtp({ port: filter.filterPort as number })
  const origin = login ? `X-Mailplane-Origin: ${originKey(app.core.vault)} ${login}\n` : ''
  const reply = await postfix.send({ from: login ?? OUTSIDE, to, text: origin + text })
  postfix.quit()
  return reply.text
}
const search = async (tenant: Tenant, query = '') => {
  const answer = await tenant.get(`${BASE}/search?${query}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data.items as Record<string, string>[]
}
const only = async (tenant: Tenant, query = '') => {
  const found = await search(tenant, query)
  expect(found).toHaveLength(1)
  return found[0] as Record<string, string> & { recipients: string[] }
}
const uploaded = (tenant: Tenant, count = 1) =>
  waitFor(async () => {
    const found = await search(tenant)
    return found.length === count && found.every((one) => one.storage_type === 's3') && found
  })
const restore = (tenant: Pick<Tenant, 'post'>, id = '') =>
  tenant.post(`${BASE}/${id}/restore`, BECAUSE)
const objectsOf = (tenant: Tenant) =>
  [...s3.objects()].filter(([key]) => key.includes(`/${tenant.organizationId}/`))
const spoolOf = (app: App) =>
  readdirSync(join(app.dataDir, 'archive-spool')).filter((name) => name.endsWith('.age'))
const keyRows = (tenant: Tenant) =>
  app.core.db
    .selectFrom('archived_messages')
    .select(['storage_key', 'sealed_for'])
    .where('organization_id', '=', tenant.organizationId)
    .execute()

it('runs after pacing and before tracking', async () => {
  const names = (await contentStages(app.core)).map(({ name }) => name)
  expect(names.indexOf('archive')).toBe(names.indexOf('pacing') + 1)
  expect(names.indexOf('tracking')).toBe(names.indexOf('archive') + 1)
})

it('archives one sealed object for all recipients and returns the same bytes', async () => {
  const joe = `joe@${acme.domain}`
  const text = letter('Offer für Ada', 'caf\xe9 \x00 secret')
  expect(await pass([acme.email, joe], text)).toMatch(/^250 /)
  const [found] = await uploaded(acme)
  expect(found).toMatchObject({ sender: OUTSIDE, direction: 'inbound', subject: 'Offer für Ada' })
  expect(found?.recipients).toEqual([acme.email, joe].sort())
  const [[key, sealed] = ['', Buffer.alloc(0)], ...more] = objectsOf(acme)
  expect(more).toEqual([])
  expect(key).toMatch(/^archive\/\w+\/\d{4}\/\d\d\/\d\d\/\w{26}\.eml\.(zst|gz)\.age$/)
  expect(sealed.toString('latin1')).toMatch(
    /^age-encryption\.org\/v1\n-> X25519 .*\n.*\n-> X25519 /,
  )
  expect(sealed.includes('secret')).toBe(false)
  expect(spoolOf(app)).toEqual([])
  const delivered = behind.received[0]?.content ?? ''
  const answer = await restore(acme, found?.id)
  expect(answer.headers['content-type']).toBe('message/rfc822')
  expect(answer.text).toBe(Buffer.from(delivered, 'latin1').toString('utf8'))
  const { recipient } = (await acme.get(`${BASE}/settings`)).body.data
  const keys = await archiveKeys(app.core).identitiesFor(acme.organizationId)
  const own = keys.filter((one) => one.recipient.text === recipient)
  expect(own).toHaveLength(1)
  for (const identity of keys) {
    const message = await unpack(await ageOpen([identity], sealed), key)
    expect(message.toString('latin1')).toBe(delivered)
  }
})

it('emits events for a stored and a restored message, and records who restored it and why', async () => {
  await pass(acme.email, letter('one'))
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
  expect(await pass(globex.email, letter('deal', 'x', acme.email), acme.email)).toMatch(/^250 /)
  const sent = await only(acme)
  const got = await only(globex)
  expect([sent.direction, got.direction]).toEqual(['outbound', 'inbound'])
  expect(sent.id).not.toBe(got.id)
  const alias = `sales@${globex.domain}`
  await globex.post('/api/v1/aliases/add', { source: alias, destination: globex.email })
  await pass(alias, letter('by alias', 'x', acme.email), acme.email)
  expect((await only(acme, 'subject=alias')).recipients).toEqual([alias])
  const behindAlias = (await only(globex, 'subject=alias')).recipients
  expect(behindAlias).toContain(globex.email)
  for (const [method, path] of [
    ['GET', `${BASE}/${sent.id}`],
    ['POST', `${BASE}/${sent.id}/restore`],
    ['DELETE', `${BASE}/${sent.id}`],
  ] as const) {
    const answer = await globex.call(method, path, method === 'GET' ? undefined : BECAUSE)
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Archived message not found' } })
  }
})

it('searches subject, addresses, direction and dates', async () => {
  await pass(acme.email, letter('Quarterly report'))
  await pass('friend@far.test', letter('Holiday plans', 'x', acme.email), acme.email)
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
  expect((await acme.get(`${BASE}/search?start_date=soon`)).status).toBe(422)
})

it('asks operators for an organization, a reason and the role owner, and records a search', async () => {
  await pass(acme.email, letter('private'))
  const owner = await app.operator('owner')
  const admin = await app.operator('admin')
  const whose = `organization_id=${acme.organizationId}`
  const reason = 'reason=court+order+17%2F26'
  expect((await owner.get(`${BASE}/search`)).status).toBe(422)
  expect((await owner.get(`${BASE}/search?${whose}`)).status).toBe(422)
  expect((await admin.get(`${BASE}/search?${whose}&${reason}`)).status).toBe(403)
  const found = await owner.get(`${BASE}/search?${whose}&${reason}`)
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
  await pass(acme.email, letter('one'))
  await pass(acme.email, letter('two'))
  const [two, one] = await uploaded(acme, 2)
  s3.damage(one?.id ?? '', (bytes) => {
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 20) ^ 1, bytes.length - 20)
    return bytes
  })
  const corrupt = { status: 500, body: { error_code: 'ARCHIVE_CORRUPT' } }
  expect(await restore(acme, one?.id)).toMatchObject(corrupt)
  const rows = await keyRows(acme)
  const other = rows.find(({ storage_key }) => storage_key.includes(two?.id ?? ''))
  // An object of the right form with other content, as somebody with the keys could write it.
  const donor = (await keyRows(acme)).find((row) => row !== other)?.storage_key ?? ''
  s3.damage(two?.id ?? '', () => s3.objects().get(donor) as Buffer)
  expect(await restore(acme, two?.id)).toMatchObject(corrupt)
  const storages = openStorages(app.core)
  await app.core.db
    .deleteFrom('archived_messages')
    .where('organization_id', '<>', acme.organizationId)
    .execute()
  await checkSample(app.core, storages)
  storages.close()
  const operator = await app.operator('support')
  const { last_check } = (await operator.get(`${BASE}/spool`)).body.data
  expect(last_check).toMatchObject({ checked: 2, damaged: 2 })
})

it('takes mail while storage is away, says so, and drains by itself', async () => {
  await s3.away()
  for (const subject of ['one', 'two', 'three']) {
    expect(await pass(acme.email, letter(subject))).toMatch(/^250 /)
  }
  const operator = await app.operator('support')
  const status = await waitFor(async () => {
    const { spools } = (await operator.get(`${BASE}/spool`)).body.data
    return spools[0]?.problem && spools[0].messages === 3 && spools[0]
  })
  expect(status.problem).toMatch(/^object storage unreachable/)
  app.clock.advance(26 * HOUR_MS)
  expect(await archiveWaiting(app.core)).toBeCloseTo(26, 0)
  const found = await search(acme)
  expect(found.map((one) => one.storage_type)).toEqual(['spool', 'spool', 'spool'])
  expect((await restore(acme, found[0]?.id)).text).toContain('a secret sentence')
  for (const name of spoolOf(app)) {
    expect(readFileSync(join(app.dataDir, 'archive-spool', name)).includes('secret')).toBe(false)
  }
  // Object storage refuses requests whose time is wrong.
  app.clock.reset()
  await s3.back()
  await uploaded(acme, 3)
  expect(objectsOf(acme)).toHaveLength(3)
  await waitFor(async () => {
    const { spools } = (await operator.get(`${BASE}/spool`)).body.data
    return spools[0].messages === 0 && spools[0].problem === null
  })
  expect(await archiveWaiting(app.core)).toBe(0)
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
  expect(await pass(acme.email, letter('invoice 7'))).toMatch(/^250 /)
  expect(await only(acme, 'q=invoice')).toMatchObject({ recipients: [globex.email] })
  expect(await only(globex)).toMatchObject({ subject: 'invoice 7', recipients: [globex.email] })
})

it('keeps held messages and deletes others, with their objects', async () => {
  const joe = `joe@${acme.domain}`
  await pass(acme.email, letter('for the owner'))
  await pass(joe, letter('for joe'))
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
  const refused = await acme.delete(`${BASE}/${held.id}`, BECAUSE)
  expect(refused).toMatchObject({ status: 409, body: { error_code: 'LEGAL_HOLD' } })
  await owner.put(`/api/v1/compliance/retention-policies/${acme.organizationId}`, {
    retention_days: 30,
    ...BECAUSE,
  })
  app.clock.advance(60 * DAY_MS)
  await applyRetention.run(app.core)
  app.clock.reset()
  expect(await only(acme)).toMatchObject({ id: held.id })
  await waitFor(() => objectsOf(acme).length === 1)
  await owner.post(`/api/v1/compliance/legal-holds/${hold.body.data.id}/release`, BECAUSE)
  expect((await acme.delete(`${BASE}/${held.id}`, BECAUSE)).status).toBe(200)
  await waitFor(() => objectsOf(acme).length === 0)
})

it('erases a person, except from messages that concern colleagues', async () => {
  const joe = `joe@${acme.domain}`
  await pass(acme.email, letter('alone'))
  await pass([acme.email, joe], letter('both'))
  await pass('friend@far.test', letter('sent', 'x', acme.email), acme.email)
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

it('seals the archive anew for a key that only the organization has', async () => {
  await pass(acme.email, letter('one'))
  await pass(acme.email, letter('two'))
  await uploaded(acme, 2)
  const before = new Set(objectsOf(acme).map(([key]) => key))
  const own = newIdentity()
  const bad = await acme.put(`${BASE}/settings`, { recipient: 'age1nonsense', ...BECAUSE })
  expect(bad).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'recipient'] }] } })
  const set = await acme.put(`${BASE}/settings`, { recipient: own.recipient.text, ...BECAUSE })
  expect(set.body.data).toMatchObject({ recipient: own.recipient.text, own_recipient: true })
  const started = await acme.post(`${BASE}/jobs`, { kind: 'rekey', ...BECAUSE })
  expect(started.status, started.text).toBe(201)
  const job = await waitFor(async () => {
    const { data } = (await acme.get(`${BASE}/jobs/${started.body.data.id}`)).body
    return data.status === 'completed' && data
  })
  expect(job).toMatchObject({ total: 2, done: 2, added: 2, failed: 0 })
  await waitFor(() => objectsOf(acme).length === 2)
  for (const [key, sealed] of objectsOf(acme)) {
    expect(before.has(key)).toBe(false)
    const message = await unpack(await ageOpen([own], sealed), key)
    expect(message.toString()).toContain('a secret sentence')
  }
  const [found] = await search(acme)
  expect((await restore(acme, found?.id)).status).toBe(200)
  expect((await globex.get(`${BASE}/jobs/${started.body.data.id}`)).status).toBe(404)
})

it('stops archiving an organization that switched it off', async () => {
  const off = await acme.put(`${BASE}/settings`, { enabled: false, ...BECAUSE })
  expect(off.body.data).toMatchObject({ available: true, enabled: false, messages: 0 })
  await pass(globex.email, letter('deal', 'x', acme.email), acme.email)
  expect(await search(acme)).toEqual([])
  await only(globex)
})

it('takes messages of other services once, and tells how many wait', async () => {
  const headers = { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'message/rfc822' }
  const path = `/archive?recipient=${acme.email}&sender=${OUTSIDE}`
  const raw = Buffer.from('Subject: h\xe9\r\n\r\n8-bit', 'latin1')
  const first = await app.send('POST', path, { headers, raw })
  expect(first.body).toMatchObject({ status: 'ok', is_new: true })
  const json = { recipient: `joe@${acme.domain}`, sender: OUTSIDE, content: raw.toString('base64') }
  const again = await app.send('POST', '/archive', {
    headers: { 'x-internal-token': INTERNAL_TOKEN },
    body: json,
  })
  expect(again.body).toMatchObject({ is_new: false, archive_id: first.body.archive_id })
  expect((await only(acme)).recipients).toHaveLength(2)
  const drained = await app.send('POST', '/archive/spool/drain', {
    headers: { 'x-internal-token': INTERNAL_TOKEN },
  })
  expect(drained.body).toMatchObject({ status: 'ok', spools: [{ messages: 0 }] })
  expect((await app.send('POST', path, { raw })).status).toBe(401)
})

it('removes files that a crash left in the spool, and no others', async () => {
  await s3.away()
  await pass(acme.email, letter('waits'))
  const [kept] = spoolOf(app)
  const { openSpool } = await import('../features/archive/spool/spool.ts')
  await openSpool(app.core.config).write(
    'x/01ARZ3NDEKTSV4RRFFQ69G5FAV.eml.zst.age',
    Buffer.from('x'),
  )
  expect(await sweepSpool(app.core)).toBe(0)
  app.clock.advance(HOUR_MS + MINUTE_MS)
  expect(await sweepSpool(app.core)).toBe(1)
  expect(spoolOf(app)).toEqual([kept])
})

it('imports the mail of a mailbox once, with its dates and its progress', async () => {
  const start = () => acme.post(`${BASE}/jobs`, { kind: 'import', email: acme.email, ...BECAUSE })
  const done = (id: string) =>
    waitFor(async () => {
      const { data } = (await acme.get(`${BASE}/jobs/${id}`)).body
      return data.status === 'completed' && data
    })
  const foreign = { kind: 'import', email: globex.email, ...BECAUSE }
  expect((await acme.post(`${BASE}/jobs`, foreign)).status).toBe(404)
  const first = await done((await start()).body.data.id)
  expect(first).toMatchObject({ total: 3, done: 3, added: 2, failed: 0, email: acme.email })
  const again = await done((await start()).body.data.id)
  expect(again).toMatchObject({ done: 3, added: 0 })
  const found = await search(acme)
  expect(found.map((one) => one.subject).sort()).toEqual(['old news', 'older news'])
  expect(found[0]).toMatchObject({ received_at: '2026-01-02T03:04:05.000Z', direction: 'inbound' })
})

it('writes the archive of an organization to a file, and names damaged messages', async () => {
  await pass(acme.email, letter('whole'))
  await pass(acme.email, letter('broken'))
  const [broken] = await uploaded(acme, 2)
  s3.damage(broken?.id ?? '', (bytes) => bytes.subarray(0, -1))
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

describe('a full spool', () => {
  const noise = () => letter('large', randomBytes(900_000).toString('base64'))

  it.each([
    ['defers mail', 'true', /^451 4\.7\.1 the message cannot be archived now/, 1],
    ['lets mail pass and counts it', 'false', /^250 /, 2],
  ])('%s with ARCHIVE_REQUIRED=%s, and recovers', async (_does, required, reply, delivered) => {
    const folder = mkdtempSync(join(tmpdir(), 'mailplane-archive-'))
    const env = {
      ARCHIVE_FOLDER: folder,
      ARCHIVE_SPOOL_MAX_MB: '1',
      ARCHIVE_REQUIRED: required,
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_REINJECT_PORT: String(behind.port),
      CONTENT_FILTER_PORT: '0',
    }
    const small = await startApp({ env })
    const tenant = await small.tenant('small')
    const own = await startContentFilter(small.core, [archiveStage(small.core)])
    const send = async () => {
      const postfix = await openSmtp({ port: own.filterPort as number })
      const answer = await postfix.send({ from: OUTSIDE, to: tenant.email, text: noise() })
      postfix.quit()
      return answer.text
    }
    expect(await send()).toMatch(/^250 /)
    expect(await send()).toMatch(reply)
    expect(behind.received).toHaveLength(delivered)
    expect(spoolOf(small)).toHaveLength(1)
    const operator = await small.operator('support')
    const { spools } = (await operator.get(`${BASE}/spool`)).body.data
    expect(spools).toMatchObject([{ messages: 1, failures: 1 }])
    const service = await archiver.start(small.core)
    await waitFor(() => spoolOf(small).length === 0)
    expect(await service.metrics?.()).toMatch(/^archiver_archive_store_failures_total 1$/m)
    expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).join()).toContain('.age')
    expect((await tenant.get(`${BASE}/search`)).body.data.items).toMatchObject([
      { storage_type: 'local', subject: 'large' },
    ])
    await waitFor(async () => (await send()).startsWith('250'))
    await service.stop()
    await own.stop()
    await small.stop()
    rmSync(folder, { recursive: true, force: true })
  })
})
