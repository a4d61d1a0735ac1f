import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { insertMailbox } from '../../../../test/support/mailboxes.ts'
import { waitFor } from '../../../../test/support/wait.ts'
import { unzip } from '../../../../test/support/zip.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { quarantineService } from '../../message-trace/quarantine.service.ts'
import { adoptFiles } from './adopt-files.ts'
import { expireExports } from './exports.jobs.ts'

let app: App
let other: App
let acme: Awaited<ReturnType<App['tenant']>>
let owner: Awaited<ReturnType<App['operator']>>
let jane: Awaited<ReturnType<typeof insertMailbox>>
beforeAll(async () => {
  app = await startApp()
  other = await startApp({ database: app.database })
  acme = await app.tenant('acme')
  owner = await app.operator('owner')
})
afterAll(async () => {
  await other.stop()
  await app.stop()
})
beforeEach(async () => {
  jane = await insertMailbox(app, acme)
})

const PATH = '/api/v1/compliance/data-export'
const request = async (export_type: string, email = jane.email) =>
  (await owner.post(`${PATH}/${email}`, { requested_by: 'jane', export_type })).body.data
const newest = async (email = jane.email) =>
  (await owner.get(`${PATH}/${email}/status`)).body.data.items[0]
const completed = (email = jane.email) =>
  waitFor(async () => {
    const row = await newest(email)
    return row?.status === 'completed' && row
  })
const download = async (url: string, { base } = app) => {
  const headers = { cookie: [...owner.jar].map(([name, value]) => `${name}=${value}`).join('; ') }
  const response = await fetch(base + url, { headers })
  const bytes = Buffer.from(await response.arrayBuffer())
  return { status: response.status, bytes, response }
}
const insertLogRow = (sender: string, recipient: string, id: string, subject = 'x') =>
  app.core.db
    .insertInto('mail_log')
    .values({ id, timestamp: new Date().toISOString(), sender, recipient, subject, status: 'sent' })
    .execute()

describe('data export', () => {
  it('creates a downloadable settings archive and exposes no server path', async () => {
    await owner.post(`/api/v1/compliance/consent/${jane.email}`, {
      consent_type: 'marketing',
      granted: true,
    })
    const requested = await request('settings')
    expect(requested).toMatchObject({ status: 'pending', download_url: null })
    const done = await completed()
    expect(JSON.stringify(done)).not.toContain('/tmp')
    expect(Date.parse(done.expires_at) - Date.parse(done.completed_at)).toBe(7 * DAY_MS)
    const { bytes, response } = await download(done.download_url)
    expect(response.headers.get('content-type')).toBe('application/zip')
    expect(response.headers.get('content-disposition')).toContain(`${requested.id}.zip`)
    expect(bytes.length).toBe(done.file_size)
    const entries = unzip(bytes)
    const json = (name: string) => JSON.parse(entries.get(name)?.toString() ?? 'null')
    expect(json('account.json')).toMatchObject({ email: jane.email })
    expect(json('consents.json')).toMatchObject([{ consent_type: 'marketing' }])
    expect(json('manifest.json')).toMatchObject({
      user_email: jane.email,
      contents: { consents: 1 },
    })
    expect([...entries.keys()].some((name) => name.startsWith('mail/'))).toBe(false)
    expect(bytes.toString('latin1')).not.toContain('password_hash')
  })

  it('stores the archive encrypted, and every process can serve it', async () => {
    await request('settings')
    const done = await completed()
    const parts = await app.core.db.selectFrom('data_export_parts').select('content').execute()
    expect(parts.length).toBeGreaterThan(0)
    for (const { content } of parts) {
      expect(content.toString('latin1')).not.toContain('PK\x03\x04')
    }
    for (const one of [app, other]) {
      expect((await download(done.download_url, one)).bytes.length).toBe(done.file_size)
    }
  })

  it('takes over the archive of an earlier version from the folder of its machine', async () => {
    await request('settings')
    const done = await completed()
    const { db } = app.core
    const rows = await db
      .selectFrom('data_export_parts')
      .select(['file_name', 'content'])
      .where('export_id', '=', done.id)
      .execute()
    const folder = join(app.dataDir, 'exports')
    mkdirSync(folder)
    writeFileSync(join(folder, rows[0]?.file_name ?? ''), rows[0]?.content ?? '')
    writeFileSync(join(folder, 'of-a-killed-process.zip.sealed.part'), 'half')
    await db.deleteFrom('data_export_parts').where('export_id', '=', done.id).execute()
    expect((await download(done.download_url)).status).toBe(404)
    await adoptFiles(app.core)
    expect((await download(done.download_url)).bytes.length).toBe(done.file_size)
    expect(readdirSync(folder)).toEqual([])
  })

  it('makes every export once when two processes compete', async () => {
    await Promise.all(Array.from({ length: 8 }, () => request('settings')))
    await waitFor(async () => {
      const { items } = (await owner.get(`${PATH}/${jane.email}/status`)).body.data
      return items.every(({ status }: { status: string }) => status === 'completed')
    })
    const rows = await app.core.db
      .selectFrom('data_exports')
      .select(['attempts'])
      .where('user_email', '=', jane.email)
      .execute()
    expect(rows.map(({ attempts }) => attempts)).toEqual(Array(8).fill(1))
  })

  it('takes over an export only after the lease of its worker has expired', async () => {
    const dead = { status: 'processing' as const, lease_owner: 'dead' }
    const { id } = await request('settings')
    await completed()
    const crash = (seconds: number) =>
      app.core.db
        .updateTable('data_exports')
        .set({ ...dead, lease_until: sql`now() + make_interval(secs => ${seconds})` })
        .where('id', '=', id)
        .execute()
    await crash(3600)
    await sql`notify mailplane_chores, 'data-exports'`.execute(app.core.db)
    await request('settings')
    await completed()
    const { items } = (await owner.get(`${PATH}/${jane.email}/status`)).body.data
    expect(items.find((one: { id: string }) => one.id === id).status).toBe('processing')
    await crash(-1)
    await sql`notify mailplane_chores, 'data-exports'`.execute(app.core.db)
    await waitFor(async () => {
      const row = await app.core.db
        .selectFrom('data_exports')
        .select(['status', 'attempts'])
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      return row.status === 'completed' && row.attempts === 2
    })
  })
})

describe('data export with hostile content', () => {
  it('escapes formulas, quotes and line breaks in contacts.csv', async () => {
    const wild = ['=cmd|calc@evil.test', '+1@evil.test', '"q",x@evil.test', 'a\r\nb@evil.test']
    for (const [index, from] of wild.entries()) {
      await insertLogRow(from, jane.email, `${jane.id}-${index}`, '</script>"},{"x":"')
    }
    await insertLogRow(jane.email, 'grace@elsewhere.test', `${jane.id}-sent`)
    await request('contacts')
    const done = await completed()
    const entries = unzip((await download(done.download_url)).bytes)
    const csv = entries.get('contacts.csv')?.toString() ?? ''
    expect(csv).toContain("\r\n'=cmd|calc@evil.test,0,1\r\n")
    expect(csv).toContain("'+1@evil.test")
    expect(csv).toContain('"""q"",x@evil.test"')
    expect(csv).toContain('"a\r\nb@evil.test"')
    expect(JSON.parse(entries.get('contacts.json')?.toString() ?? '')).toHaveLength(5)
  })
})

describe('data export download', () => {
  it('returns 409 before completion, 404 for another address and 410 after a week', async () => {
    const { id } = await request('settings')
    const done = await completed()
    expect((await owner.get(`${PATH}/${acme.email}/download/${id}`)).status).toBe(404)
    expect((await owner.get(`${PATH}/${jane.email}/download/nothing`)).status).toBe(404)
    const waiting = await app.core.db
      .insertInto('data_exports')
      .values({
        id: `waiting-${id}`,
        organization_id: acme.organizationId,
        account_id: jane.id,
        user_email: jane.email,
        requested_by: 'x',
        due_at: '2999-01-01T00:00:00Z',
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    expect(await owner.get(`${PATH}/${jane.email}/download/${waiting.id}`)).toMatchObject({
      status: 409,
    })
    app.clock.advance(7 * DAY_MS + 1)
    const fresh = await app.operator('owner')
    expect(await fresh.get(done.download_url)).toMatchObject({ status: 410 })
    await expireExports.run(app.core)
    const row = await app.core.db
      .selectFrom('data_exports')
      .select(['status', 'file_key', 'file_name'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toEqual({ status: 'expired', file_key: null, file_name: null })
    const parts = await app.core.db
      .selectFrom('data_export_parts')
      .select('number')
      .where('export_id', '=', done.id)
      .execute()
    expect(parts).toEqual([])
    expect(await fresh.get(done.download_url)).toMatchObject({ status: 410 })
    owner = fresh
  })

  it('records the download in the compliance audit log', async () => {
    await request('settings')
    const done = await completed()
    await download(done.download_url)
    const { items } = (await owner.get(`/api/v1/compliance/audit-log?user_email=${jane.email}`))
      .body.data
    expect(items.map(({ action }: { action: string }) => action)).toEqual([
      'data_export.downloaded',
      'data_export.completed',
      'data_export.requested',
    ])
  })

  it('returns 410 for an archive whose bytes were changed', async () => {
    const { id } = await request('settings')
    const done = await completed()
    await app.core.db
      .updateTable('data_export_parts')
      .set({ content: sql`set_byte(content, 40, get_byte(content, 40) # 1)` })
      .where('export_id', '=', id)
      .execute()
    expect((await download(done.download_url)).status).toBe(410)
  })
})

it('keeps an export pending while the mail server is unavailable and leaves no partial archive', async () => {
  await request('full')
  const waiting = await waitFor(async () => {
    const row = await newest()
    return row.error_message !== null && row
  })
  expect(waiting).toMatchObject({ download_url: null, file_size: 0 })
  expect(['pending', 'processing']).toContain(waiting.status)
  expect(waiting.error_message).toContain('Mail server unavailable')
  await waitFor(async () => {
    const parts = await app.core.db
      .selectFrom('data_export_parts')
      .select('number')
      .where('export_id', '=', waiting.id)
      .execute()
    return parts.length === 0
  })
})

it('exports everything that is stored about a person without a mailbox (B1.6, B1.7)', async () => {
  const { db } = app.core
  const organization_id = acme.organizationId
  const email = `grace-${jane.id.toLowerCase()}@elsewhere.test`
  const path = `${PATH}/${email}`
  expect((await owner.post(path, { requested_by: 'grace' })).status).toBe(404)
  await insertLogRow('sales@acme.test', email, `${jane.id}-g`, 'an offer')
  const secret = 'the whole quarantined message'
  const held = {
    organization_id,
    message_id: null,
    queue_id: null,
    sender: email,
    recipient: jane.email,
    subject: 'an answer',
    reason: 'spam' as const,
    headers: {},
    content: Buffer.from(secret),
  }
  await db.transaction().execute((tx) => quarantineService(app.core).hold(tx, held))
  await db
    .insertInto('suppressions')
    .values({ id: jane.id, email, organization_id, suppression_type: 'UNSUBSCRIBE' })
    .execute()
  await db
    .insertInto('tracking_events')
    .values({
      id: jane.id,
      organization_id,
      domain: 'acme.test',
      recipient: email,
      event_type: 'opened',
      ip_address: '192.0.2.9',
    })
    .execute()
  await db
    .insertInto('dlp_violations')
    .values({
      organization_id,
      policy_id: 1,
      sender: jane.email,
      recipient: email,
      violation_type: 'keyword',
      action_taken: 'block',
      severity: 'high',
      has_match: true,
    })
    .execute()
  await db
    .insertInto('feedback_loops')
    .values({
      id: jane.id,
      organization_id,
      isp_name: 'elsewhere',
      original_recipient: email,
      created_at: new Date().toISOString(),
    })
    .execute()
  await db
    .insertInto('migration_jobs')
    .values({
      id: jane.id,
      organization_id,
      direction: 'import',
      status: 'completed',
      mailbox: jane.email,
      remote_host: 'imap.elsewhere.test',
      remote_port: 993,
      remote_ssl: true,
      remote_tls_verify: true,
      remote_username: email,
      remote_auth: 'password',
    })
    .execute()
  await request('full', email)
  const done = await completed(email)
  const entries = unzip((await download(done.download_url)).bytes)
  const text = (name: string) => entries.get(name)?.toString() ?? ''
  const tables = [
    'quarantine',
    'suppressions',
    'tracking_events',
    'dlp_violations',
    'feedback_loops',
    'migration_jobs',
  ]
  for (const table of tables) {
    expect(done.contents[table], table).toBe(1)
    expect(text(`records/${table}.ndjson`), table).toContain(email)
  }
  expect(text('logs/mail.ndjson')).toContain('an offer')
  const messages = [...entries.keys()].filter((name) => name.startsWith('quarantine/'))
  expect(messages.map(text)).toEqual([secret])
  expect(entries.has('account.json')).toBe(false)
})

it('exports the mailboxes that several organizations have prepared without proof of the domain', async () => {
  const domain = `contested-${jane.id.toLowerCase()}.test`
  const email = `jane@${domain}`
  const globex = await app.tenant(`globex-${jane.id.toLowerCase()}`)
  await globex.post('/api/v1/domains/', { domain })
  await acme.post('/api/v1/domains/', { domain })
  const ids: string[] = []
  for (const tenant of [acme, globex]) {
    const path = '/api/v1/mailboxes/email-accounts'
    const sent = { email, name: `Jane of ${tenant.domain}`, password: 'Tr0ub4dor-and-3-horses' }
    ids.push((await tenant.post(path, sent)).body.data.id)
  }
  await request('settings', email)
  const files = unzip((await download((await completed(email)).download_url)).bytes)
  const accountIn = (path: string) => JSON.parse(String(files.get(path)))
  expect(accountIn('account.json')).toMatchObject({ id: ids[0], name: `Jane of ${acme.domain}` })
  expect(accountIn(`prepared-mailboxes/${ids[1]}/account.json`)).toMatchObject({
    organization_id: globex.organizationId,
    name: `Jane of ${globex.domain}`,
  })
})
