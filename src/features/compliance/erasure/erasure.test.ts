import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type Doveadm, startDoveadm } from '../../../../test/support/doveadm.ts'
import { insertMailbox, mailboxRow } from '../../../../test/support/mailboxes.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { eraseDue } from './erasure.jobs.ts'

const PATH = '/api/v1/compliance'
const REASON = 'The court has asked for it'

let app: App
let other: App
let doveadm: Doveadm
let acme: Awaited<ReturnType<App['tenant']>>
let owner: Awaited<ReturnType<App['operator']>>
let jane: Awaited<ReturnType<typeof insertMailbox>>
beforeAll(async () => {
  doveadm = await startDoveadm('key')
  const env = { DOVEADM_URL: doveadm.url, DOVEADM_API_KEY: 'key' }
  app = await startApp({ env })
  other = await startApp({ env, database: app.database })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await other.stop()
  await app.stop()
  await doveadm.stop()
})
beforeEach(async () => {
  doveadm.state.mood = 'well'
  owner = await app.operator('owner')
  jane = await insertMailbox(app, acme)
})

const erase = () => owner.post(`${PATH}/data-erasure/${jane.email}`, { requested_by: 'jane' })
const advanceDays = async (days: number) => {
  app.clock.advance(days * DAY_MS)
  other.clock.advance(days * DAY_MS)
  owner = await app.operator('owner')
}
const status = async () =>
  (await owner.get(`${PATH}/data-erasure/${jane.email}/status`)).body.data.items[0]
const actions = async () =>
  (await owner.get(`${PATH}/audit-log?user_email=${jane.email}`)).body.data.items
const insertLogRow = (values: {
  id: string
  sender: string
  recipient: string
  sasl_username?: string
}) =>
  app.core.db
    .insertInto('mail_log')
    .values({
      ...values,
      organization_id: acme.organizationId,
      timestamp: new Date().toISOString(),
      subject: 'secret',
      status: 'sent',
      bounce_reason: `no such user ${jane.email}`,
    })
    .execute()

const RECORDS = [
  'feedback_loops',
  'dlp_violations',
  'tracking_events',
  'tracked_recipients',
] as const

/** Rows of other features that name the person. */
async function insertRecords(): Promise<void> {
  const { db } = app.core
  const organization_id = acme.organizationId
  const created_at = new Date().toISOString()
  const complaint = { organization_id, isp_name: 'elsewhere', created_at }
  await db
    .insertInto('feedback_loops')
    .values([
      {
        ...complaint,
        id: `${jane.id}-1`,
        sender: jane.email,
        original_recipient: 'grace@elsewhere.test',
        subject: `for ${jane.email}`,
      },
      {
        ...complaint,
        id: `${jane.id}-2`,
        sender: 'sales@acme.test',
        original_recipient: jane.email,
      },
    ])
    .execute()
  await db
    .insertInto('dlp_violations')
    .values({
      organization_id,
      policy_id: 1,
      sender: jane.email,
      recipient: 'grace@elsewhere.test',
      violation_type: 'keyword',
      action_taken: 'block',
      severity: 'high',
      has_match: true,
    })
    .execute()
  const domain = 'acme.test'
  const id = `${jane.id}-tracked`
  await db
    .insertInto('tracked_messages')
    .values({ id, organization_id, domain, email_id: id })
    .execute()
  await db
    .insertInto('tracked_recipients')
    .values({ id, message_id: id, recipient: jane.email })
    .execute()
  await db
    .insertInto('tracking_events')
    .values({
      id,
      organization_id,
      domain,
      email_id: id,
      recipient: jane.email,
      event_type: 'clicked',
      url: `https://acme.test/?who=${jane.email}`,
    })
    .execute()
}

it('removes no data before the grace period of an erasure ends', async () => {
  await erase()
  await advanceDays(29)
  await eraseDue.run(app.core)
  expect(await status()).toMatchObject({ status: 'soft_deleted', removed: {} })
  expect(await mailboxRow(app, jane.id)).toBeDefined()
})

it('removes invitations that wait to be sent, by the erased person or to it', async () => {
  const row = (id: string, account_id: string, recipient: string) => ({
    id: `${jane.id}-${id}`,
    organization_id: acme.organizationId,
    account_id,
    recipient,
    uid: 'event',
    method: 'REQUEST' as const,
    sender: 'x@acme.test',
    content: 'an invitation',
  })
  const rows = [
    row('from', jane.id, 'grace@elsewhere.test'),
    row('to', acme.accountId, jane.email),
    row('else', acme.accountId, 'grace@elsewhere.test'),
  ]
  await app.core.db.insertInto('calendar_mail').values(rows).execute()
  await erase()
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect(await status()).toMatchObject({
    status: 'hard_deleted',
    removed: { calendars: { messages: 2 } },
  })
  const left = await app.core.db.selectFrom('calendar_mail').select('id').execute()
  expect(left).toEqual([{ id: `${jane.id}-else` }])
})

it('removes or pseudonymizes all data of an erased person and records the counts as proof', async () => {
  await owner.post(`${PATH}/consent/${jane.email}`, { consent_type: 'marketing', granted: true })
  await acme.post('/api/v1/aliases/add', {
    source: `alias-${jane.email}`,
    destination: jane.email,
  })
  await insertLogRow({ id: `${jane.id}-1`, sender: jane.email, recipient: 'grace@elsewhere.test' })
  await insertLogRow({ id: `${jane.id}-2`, sender: 'grace@elsewhere.test', recipient: jane.email })
  const sender = 'sales@acme.test'
  const recipient = 'x@y.test'
  await insertLogRow({ id: `${jane.id}-3`, sender, recipient, sasl_username: jane.email })
  await insertLogRow({ id: `${jane.id}-4`, sender: `not-${jane.email}`, recipient })
  await insertRecords()
  await erase()
  await advanceDays(31)
  await Promise.all([eraseDue.run(app.core), eraseDue.run(other.core)])
  const done = await status()
  expect(done).toMatchObject({
    status: 'hard_deleted',
    error_message: null,
    removed: {
      consents: { records: 1 },
      mail_log: { rows: 3 },
      complaints: { rows: 2 },
      dlp_violations: { rows: 1 },
      tracking: { events: 1, messages: 1 },
      mailbox: { mailboxes: 1, aliases: 1 },
    },
  })
  expect(await mailboxRow(app, jane.id)).toBeUndefined()
  const log = await app.core.db
    .selectFrom('mail_log')
    .selectAll()
    .where('id', 'like', `${jane.id}-%`)
    .orderBy('id')
    .execute()
  expect(log).toHaveLength(4)
  expect(JSON.stringify(log.slice(0, 3))).not.toContain(jane.email)
  expect(log[0]?.sender).toMatch(/^erased-[0-9a-f]{16}@erased\.invalid$/)
  expect(log[1]?.recipient).toBe(log[0]?.sender)
  expect(log[0]).toMatchObject({ recipient: 'grace@elsewhere.test', subject: null })
  expect(log[3]).toMatchObject({ sender: `not-${jane.email}`, subject: 'secret' })
  for (const table of RECORDS) {
    const rows = await app.core.db.selectFrom(table).selectAll().execute()
    expect(rows.length, table).toBeGreaterThan(0)
    expect(JSON.stringify(rows), table).not.toContain(jane.email)
  }
  const proofs = (await actions()).filter(
    ({ action }: { action: string }) => action === 'data_erasure.hard_deleted',
  )
  expect(proofs).toMatchObject([{ performed_by: 'system', details: { removed: done.removed } }])
  expect((await erase()).status).toBe(404)
})

it('replaces the erased address in events and dead letters but keeps longer addresses', async () => {
  const { db } = app.core
  const data = { email: jane.email, text: `<${jane.email}>, not-${jane.email}, ${jane.email}.uk` }
  const org_id = acme.organizationId
  const event = { id: jane.id, event: 'test', source: 'test', org_id, data }
  await db.insertInto('events').values(event).execute()
  const letter = {
    event_id: jane.id,
    organization_id: org_id,
    event_type: 'test',
    endpoint_url: 'https://receiver.test',
    last_error: `550 ${jane.email} is unknown`,
    attempt_count: 1,
    payload: { data },
  }
  await db.insertInto('webhook_dead_letters').values(letter).execute()
  await erase()
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect((await status()).removed.events.webhook_dead_letters).toBe(1)
  const after = await db
    .selectFrom('events')
    .select('data')
    .where('id', '=', jane.id)
    .executeTakeFirstOrThrow()
  const pseudonym = (after.data as { email: string }).email
  expect(pseudonym).toMatch(/^erased-[0-9a-f]{16}@erased\.invalid$/)
  expect(after.data).toEqual({
    email: pseudonym,
    text: `<${pseudonym}>, not-${jane.email}, ${jane.email}.uk`,
  })
  const dead = await db
    .selectFrom('webhook_dead_letters')
    .select(['payload', 'last_error'])
    .where('event_id', '=', jane.id)
    .executeTakeFirstOrThrow()
  expect(dead).toEqual({ payload: { data: after.data }, last_error: `550 ${pseudonym} is unknown` })
  // mailbox.deleted is emitted after the events were pseudonymized.
  const rest = await db
    .selectFrom('events')
    .select(['event', 'data'])
    .where('org_id', '=', org_id)
    .execute()
  const named = rest.filter((row) => JSON.stringify(row.data).includes(`"${jane.email}"`))
  expect(named.map((row) => row.event)).toEqual(['mailbox.deleted'])
})

it('replaces the erased address in more events than fit in one batch', async () => {
  const { db } = app.core
  const event = { event: 'test', source: 'test', org_id: acme.organizationId }
  const many = Array.from({ length: 2001 }, (_, n) => ({
    ...event,
    id: `${jane.id}-${n}`,
    data: { to: jane.email },
  }))
  await db.insertInto('events').values(many).execute()
  await erase()
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect((await status()).removed.events.events).toBeGreaterThanOrEqual(many.length)
  const rows = await db
    .selectFrom('events')
    .select('data')
    .where('id', 'like', `${jane.id}-%`)
    .execute()
  expect(rows).toHaveLength(many.length)
  expect(rows.filter(({ data }) => (data as { to: string }).to === jane.email)).toEqual([])
})

it('postpones an erasure while Dovecot is unavailable and finishes it later', async () => {
  await erase()
  await advanceDays(31)
  doveadm.state.mood = 'wrong key'
  await eraseDue.run(app.core)
  expect(await status()).toMatchObject({
    status: 'soft_deleted',
    error_message: expect.stringContaining('Dovecot'),
  })
  expect(await mailboxRow(app, jane.id)).toBeDefined()
  const cancel = await owner.post(`${PATH}/data-erasure/${jane.email}/cancel`, { reason: REASON })
  expect(cancel.status).toBe(409)
  doveadm.state.mood = 'well'
  await advanceDays(1)
  await eraseDue.run(app.core)
  expect(await status()).toMatchObject({ status: 'hard_deleted' })
})

it('postpones an erasure under a new legal hold until the hold is released', async () => {
  await erase()
  const placed = await owner.post(`${PATH}/legal-holds`, {
    organization_id: acme.organizationId,
    name: 'Case 12',
    custodians: [jane.email],
    reason: REASON,
  })
  await advanceDays(31)
  await eraseDue.run(app.core)
  await advanceDays(1)
  await eraseDue.run(app.core)
  expect(await status()).toMatchObject({ status: 'soft_deleted', removed: {} })
  expect(await mailboxRow(app, jane.id)).toMatchObject({ status: 'inactive' })
  const held = (await actions()).filter(
    ({ action }: { action: string }) => action === 'data_erasure.held',
  )
  expect(held).toHaveLength(1)
  await owner.post(`${PATH}/legal-holds/${placed.body.data.id}/release`, { reason: REASON })
  await advanceDays(1)
  await eraseDue.run(app.core)
  expect(await status()).toMatchObject({ status: 'hard_deleted' })
})

it('lets tenants take turns, however many erasures of one are due', async () => {
  const people = await Promise.all([1, 2, 3].map(() => insertMailbox(app, acme)))
  const neighbour = await insertMailbox(app, await app.tenant('globex'))
  for (const { email } of [...people, neighbour]) {
    await owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'owner' })
  }
  await advanceDays(31)
  await eraseDue.run(app.core)
  const done = await Promise.all(
    [...people, neighbour].map(async ({ email }) => {
      const { items } = (await owner.get(`${PATH}/data-erasure/${email}/status`)).body.data
      return { email, at: items[0].hard_deleted_at }
    }),
  )
  const order = done.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  expect(order[1]?.email).toBe(neighbour.email)
})
