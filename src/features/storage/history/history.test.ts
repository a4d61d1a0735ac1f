import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Client, clientOf, INTERNAL_TOKEN } from '../../../../test/support/app.ts'
import { insertMailbox } from '../../../../test/support/mailboxes.ts'
import {
  countUsage,
  PATH,
  type StorageApp,
  startStorageApp,
  storage,
  usageIsSummedUp,
} from '../../../../test/support/storage.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { ulid } from '../../../lib/ulid.ts'
import { deleteOldHistory, keepHistory } from './history.jobs.ts'

const QUOTA = 10_000

let app: StorageApp['app']
let acme: StorageApp['acme']
let globex: StorageApp['globex']
let stop: StorageApp['stop']
let service: Client
let box: Awaited<ReturnType<typeof insertMailbox>>
beforeAll(async () => {
  ;({ app, acme, globex, stop } = await startStorageApp())
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
  box = await insertMailbox(app, acme, { storage_quota: QUOTA })
})
afterAll(() => stop())

const use = async (bytes: number) => {
  await countUsage(app, box.email, bytes, 1)
  await usageIsSummedUp(app)
}
const day = (ago: number) =>
  new Date(app.clock.now().getTime() - ago * DAY_MS).toISOString().slice(0, 10)
const history = async (path = `mailbox/${box.email}`, client: Pick<Client, 'get'> = acme) => {
  const answer = await client.get(`${PATH}/history/${path}`)
  expect(answer.status, answer.text).toBe(200)
  return answer.body.data
}
const rows = () =>
  app.core.db
    .selectFrom('storage_history')
    .selectAll()
    .where('entity_id', '=', box.id)
    .orderBy('day')
    .execute()

it('returns 404 for the storage of another tenant and for unknown names', async () => {
  for (const path of [
    `mailbox/${box.email}`,
    'domain/acme.test',
    `organization/${acme.organizationId}`,
    'domain/nowhere.test',
    'mailbox/nobody',
  ]) {
    expect((await globex.get(`${PATH}/history/${path}`)).status, path).toBe(404)
  }
  expect((await acme.get(`${PATH}/history/folder/x`)).status).toBe(422)
})

it('counts mail, attachments, calendars and the archive in one place', async () => {
  const { db } = app.core
  const attachments = { email: box.email, files: 1, attachments: 1, bytes: 1000 }
  await db.insertInto('attachment_usage').values(attachments).execute()
  await use(4000)
  const owner = { organization_id: acme.organizationId, kind: 'calendar', uri: 'work' } as const
  await db
    .insertInto('dav_collections')
    .values({ ...owner, id: ulid(), account_id: box.id, bytes: 300 })
    .execute()
  await db
    .insertInto('archived_messages')
    .values({
      id: ulid(),
      organization_id: acme.organizationId,
      content_hash: Buffer.alloc(32),
      sender: box.email,
      direction: 'outbound',
      received_at: app.core.now().toISOString(),
      size: 900,
      stored_size: 700,
      storage_key: 'one',
      sealed_for: [],
      search: sql<string>`''::tsvector`,
    })
    .execute()
  const typesWith = (archive: number) => [
    { storage_type: 'mailbox', used_bytes: 4000 },
    { storage_type: 'attachments', used_bytes: 1000 },
    { storage_type: 'dav', used_bytes: 300 },
    { storage_type: 'archive', used_bytes: archive },
    { storage_type: 'total', used_bytes: 4300 + archive },
  ]
  expect(await history()).toMatchObject({
    by_type: typesWith(0),
    quota_bytes: QUOTA,
    usage_percentage: 40,
    days: [],
    forecast: null,
  })
  expect((await history('domain/acme.test')).by_type).toEqual(typesWith(0))
  expect((await history(`organization/${acme.organizationId}`)).by_type).toEqual(typesWith(700))
  expect((await history('domain/globex.test', globex)).by_type).toContainEqual({
    storage_type: 'total',
    used_bytes: 0,
  })
})

it('stores a day only when something changed, and fills the days between', async () => {
  await keepHistory.run(app.core)
  expect(await rows()).toHaveLength(3)
  app.clock.advance(2 * DAY_MS)
  await keepHistory.run(app.core)
  expect(await rows()).toHaveLength(3)
  app.clock.advance(2 * DAY_MS)
  await use(4400)
  await keepHistory.run(app.core)
  await keepHistory.run(app.core)
  expect(await rows()).toHaveLength(4)
  const { days, forecast } = await history()
  expect(days).toEqual([
    { date: day(4), used_bytes: 4300, mailbox_bytes: 4000 },
    { date: day(3), used_bytes: 4300, mailbox_bytes: 4000 },
    { date: day(2), used_bytes: 4300, mailbox_bytes: 4000 },
    { date: day(1), used_bytes: 4300, mailbox_bytes: 4000 },
    { date: day(0), used_bytes: 4700, mailbox_bytes: 4400 },
  ])
  expect(forecast, 'five days are too few').toBeNull()
})

it('forecasts the day on which the quota is full', async () => {
  for (let bytes = 4500; bytes <= 6900; bytes += 100) {
    app.clock.advance(DAY_MS)
    await use(bytes)
    await keepHistory.run(app.core)
  }
  const { days, forecast, usage_percentage } = await history()
  expect(days).toHaveLength(30)
  expect(usage_percentage).toBe(69)
  expect(forecast.based_on_days).toBe(29)
  expect(forecast.bytes_per_day).toBeGreaterThan(95)
  expect(forecast.bytes_per_day).toBeLessThan(110)
  expect(forecast.days_left).toBeGreaterThanOrEqual(29)
  expect(forecast.days_left).toBeLessThanOrEqual(33)
  expect(forecast.fills_at).toBe(day(-forecast.days_left))
  // The organization has no quota of its own.
  expect((await history(`organization/${acme.organizationId}`)).forecast).toMatchObject({
    fills_at: null,
    days_left: null,
  })
})

it('keeps the newest figure when old ones are deleted, and none of a deleted mailbox', async () => {
  app.clock.advance(200 * DAY_MS)
  await deleteOldHistory.run(app.core)
  expect((await rows()).map(({ storage_type, used_bytes }) => [storage_type, used_bytes])).toEqual(
    expect.arrayContaining([
      ['mailbox', 6900],
      ['dav', 300],
    ]),
  )
  expect(await rows()).toHaveLength(3)
  await app.core.db.deleteFrom('email_accounts').where('id', '=', box.id).execute()
  expect(await rows()).toEqual([])
  app.clock.reset()
})

it('answers other services of the installation, and nobody else', async () => {
  box = await insertMailbox(app, acme, { storage_quota: 1000 })
  await use(960)
  const mailbox = `mailbox/${box.email}`
  for (const path of [
    `usage/${mailbox}`,
    `usage/${mailbox}/hierarchy`,
    `config/${mailbox}`,
    `quota-check?email=${box.email}`,
    'stats',
  ]) {
    expect((await acme.get(`/storage/${path}`)).status, path).toBe(401)
    expect((await service.get(`/storage/${path}`)).status, path).toBe(200)
  }
  expect((await service.get('/storage/usage/domain/acme.test/hierarchy')).body).toMatchObject({
    entity_type: 'domain',
    children: expect.arrayContaining([{ identifier: box.email, used_bytes: 960 }]),
  })
  const check = async (bytes: number) =>
    (await service.get(`/storage/quota-check?email=${box.email}&bytes=${bytes}`)).body
  expect(await check(40)).toEqual({
    email: box.email,
    allowed: true,
    used_bytes: 960,
    quota_bytes: 1000,
    remaining_bytes: 40,
    usage_percentage: 96,
  })
  expect(await check(41)).toMatchObject({ allowed: false })
  expect((await service.get('/storage/quota-check?email=nobody@acme.test')).status).toBe(404)
  expect((await service.post(`/storage/alerts/${mailbox}`)).body).toMatchObject({
    alert_level: 'critical',
    used_bytes: 960,
  })
  const set = await service.put(`/storage/config/${mailbox}`, { quota_mb: 2, reason: 'a test' })
  expect(set).toMatchObject({
    status: 200,
    body: { quota_configuration: { total_storage_limit: 2 * 1024 ** 2 } },
  })
  expect((await service.post(`/storage/alerts/${mailbox}`)).body).toMatchObject({
    alert_level: 'none',
  })
  const audit = await app.core.db
    .selectFrom('operator_audit')
    .select(['request_body', 'status_code'])
    .where('action', '=', 'set_storage_config')
    .execute()
  expect(audit).toEqual([{ request_body: { quota_mb: 2, reason: 'a test' }, status_code: 200 }])
  expect((await service.post('/storage/cleanup', { dry_run: true })).status).toBe(200)
})

it('shows bytes by type, mailboxes over each level and the age of waiting changes as metrics', async () => {
  const { db } = app.core
  await sql`insert into storage_pending (kind, name, marked_at)
    values ('domain', 'acme.test', now() - interval '5 minutes')`.execute(db)
  const running = await storage.start({ ...app.core, now: () => new Date() })
  try {
    const page = (await running.metrics?.()) ?? ''
    expect(page).toMatch(/^storage_used_bytes\{storage_type="dav"\} \d+$/m)
    expect(page).toMatch(/^storage_used_bytes\{storage_type="mailbox"\} [1-9]\d*$/m)
    for (const level of ['warning', 'critical', 'exceeded']) {
      expect(page).toMatch(new RegExp(`^storage_mailboxes_over\\{level="${level}"\\} \\d+$`, 'm'))
    }
    expect(page).toMatch(/^storage_pending_age_seconds \d/m)
  } finally {
    await running.stop()
  }
})
