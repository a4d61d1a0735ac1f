import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type Doveadm, startDoveadm } from '../../../../test/support/doveadm.ts'
import { insertMailbox, mailboxRow } from '../../../../test/support/mailboxes.ts'
import { nameAsCaller } from '../../../../test/support/named-callers.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { register } from '../personal-data/register.ts'
import { tablesWithout } from '../personal-data/tables-without.ts'
import { eraseDue } from './erasure.jobs.ts'

const PATH = '/api/v1/compliance'
const REASON = 'The court has asked for it'

let app: App
let doveadm: Doveadm
let acme: Awaited<ReturnType<App['tenant']>>
let owner: Awaited<ReturnType<App['operator']>>
let jane: Awaited<ReturnType<typeof insertMailbox>>
beforeAll(async () => {
  doveadm = await startDoveadm('key')
  app = await startApp({ env: { DOVEADM_URL: doveadm.url, DOVEADM_API_KEY: 'key' } })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await doveadm.stop()
})
beforeEach(async () => {
  owner = await app.operator('owner')
  jane = await insertMailbox(app, acme)
})

const advanceDays = async (days: number) => {
  app.clock.advance(days * DAY_MS)
  owner = await app.operator('owner')
}
const latest = async (email: string) =>
  (await owner.get(`${PATH}/data-erasure/${email}/status`)).body.data.items[0]

it('leaves no address in any table that an erasure covers (B1.6)', async () => {
  const { db } = app.core
  const organization_id = acme.organizationId
  const usage = { organization_id, entity_type: 'mailbox', direction: 'outbound' } as const
  await db
    .insertInto('rate_limit_usage')
    .values({ ...usage, identifier: jane.email, counts: {}, updated_at: new Date().toISOString() })
    .execute()
  await db
    .insertInto('blocked_senders')
    .values({ id: jane.id, organization_id, sender: jane.email, reason: 'x', created_by: 'x' })
    .execute()
  const schedule = {
    organization_id,
    domain: 'acme.test',
    report_type: 'summary',
    interval: 'daily',
    due_at: '2999-01-01T00:00:00Z',
  } as const
  await db
    .insertInto('analytics_schedules')
    .values([
      { ...schedule, schedule_id: `${jane.id}-1`, recipients: [jane.email, 'boss@acme.test'] },
      { ...schedule, schedule_id: `${jane.id}-2`, recipients: [jane.email] },
    ])
    .execute()
  await nameAsCaller(app, acme, jane.email)
  await owner.post(`${PATH}/data-export/${jane.email}`, {
    requested_by: 'jane',
    export_type: 'settings',
  })
  await owner.post(`${PATH}/data-erasure/${jane.email}`, { requested_by: 'jane' })
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect(await latest(jane.email)).toMatchObject({
    status: 'hard_deleted',
    removed: {
      rate_limits: { usage: 1 },
      quarantine: { blocks: 1 },
      reports: { schedules: 2 },
      exports: { archives: 1 },
    },
  })
  const schedules = await db
    .selectFrom('analytics_schedules')
    .select('recipients')
    .where('schedule_id', 'like', `${jane.id}-%`)
    .execute()
  expect(schedules).toEqual([{ recipients: ['boss@acme.test'] }])
  // The proof and the last event stay; docs/compliance.md says why.
  const stays = ['compliance_audit', 'data_erasures', 'events', 'operator_audit']
  const found: string[] = []
  for (const table of [...register.map((one) => one.table), ...Object.keys(tablesWithout)]) {
    const { rows } = await sql`
      select 1 from ${sql.table(table)} t where position(${jane.email} in t::text) > 0 limit 1`.execute(
      db,
    )
    if (rows.length > 0) found.push(table)
  }
  expect(found.filter((table) => !stays.includes(table))).toEqual([])
})

const addMailbox = async (tenant: typeof acme, email: string) => {
  const sent = { email, password: 'Tr0ub4dor-and-3-horses' }
  const { status, body } = await tenant.post('/api/v1/mailboxes/email-accounts', sent)
  expect(status).toBe(201)
  return body.data.id as string
}

/** An address at a domain that Acme and another organization have added, both without proof. */
async function contested() {
  const name = jane.id.toLowerCase()
  const globex = await app.tenant(`globex-${name}`)
  const domain = `contested-${name}.test`
  await globex.post('/api/v1/domains/', { domain })
  await acme.post('/api/v1/domains/', { domain })
  return { globex, email: `jane@${domain}` }
}

it('erases the mailboxes that several organizations have prepared without proof of the domain', async () => {
  const { email, globex } = await contested()
  const own = await addMailbox(acme, email)
  const prepared = await addMailbox(globex, email)
  const hold = await owner.post(`${PATH}/legal-holds`, {
    organization_id: globex.organizationId,
    name: 'Case 14',
    reason: REASON,
  })
  const request = () => owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'the court' })
  expect(await request()).toMatchObject({ status: 409, body: { error_code: 'legal_hold_active' } })
  await owner.post(`${PATH}/legal-holds/${hold.body.data.id}/release`, { reason: REASON })
  expect((await request()).status).toBe(201)
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect(await latest(email)).toMatchObject({
    status: 'hard_deleted',
    removed: { mailbox: { mailboxes: 2 } },
  })
  const left = [await mailboxRow(app, own), await mailboxRow(app, prepared)]
  expect(left).toEqual([undefined, undefined])
})

it('leaves a mailbox that another organization prepared after the request', async () => {
  const { email, globex } = await contested()
  const own = await addMailbox(acme, email)
  await owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'the court' })
  await advanceDays(1)
  const later = await addMailbox(globex, email)
  await app.core.db
    .updateTable('email_accounts')
    .set({ created_at: app.clock.now().toISOString() })
    .where('id', '=', later)
    .execute()
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect(await latest(email)).toMatchObject({
    status: 'hard_deleted',
    removed: { mailbox: { mailboxes: 1 } },
  })
  expect(await mailboxRow(app, own)).toBeUndefined()
  expect(await mailboxRow(app, later)).toMatchObject({ email })
})

it('erases a person without a mailbox in every organization (B1.7)', async () => {
  const email = `grace-${jane.id.toLowerCase()}@elsewhere.test`
  const path = `${PATH}/data-erasure/${email}`
  const globex = await app.tenant(`globex-${jane.id.toLowerCase()}`)
  expect((await owner.post(path, { requested_by: 'grace' })).status).toBe(404)
  await owner.post(`${PATH}/consent/${email}`, { consent_type: 'marketing', granted: true })
  await app.core.db
    .insertInto('mail_log')
    .values({
      id: `${jane.id}-a`,
      organization_id: acme.organizationId,
      timestamp: new Date().toISOString(),
      sender: 'sales@acme.test',
      recipient: email,
      status: 'sent',
    })
    .execute()
  await app.core.db
    .insertInto('suppressions')
    .values([
      {
        id: `${jane.id}-s`,
        email,
        organization_id: globex.organizationId,
        suppression_type: 'UNSUBSCRIBE',
      },
      {
        id: `${jane.id}-b`,
        email,
        organization_id: acme.organizationId,
        suppression_type: 'BOUNCE',
      },
    ])
    .execute()
  expect((await owner.post(path, { requested_by: 'grace' })).status).toBe(201)
  expect((await owner.post(path, { requested_by: 'grace' })).status).toBe(409)
  // A hold on a whole organization that has rows about her.
  const hold = await owner.post(`${PATH}/legal-holds`, {
    organization_id: acme.organizationId,
    name: 'Case 13',
    reason: REASON,
  })
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect(await latest(email)).toMatchObject({ status: 'soft_deleted', removed: {} })
  await owner.post(`${PATH}/legal-holds/${hold.body.data.id}/release`, { reason: REASON })
  await advanceDays(1)
  await eraseDue.run(app.core)
  expect(await latest(email)).toMatchObject({
    status: 'hard_deleted',
    removed: { consents: { records: 1 }, mail_log: { rows: 1 }, quarantine: { suppressions: 1 } },
  })
  // Globex must still know that she wants no mail.
  const left = await app.core.db
    .selectFrom('suppressions')
    .select('id')
    .where('email', '=', email)
    .execute()
  expect(left).toEqual([{ id: `${jane.id}-s` }])
})

it('cancels the erasure of an address that has a new holder', async () => {
  const { body } = await acme.post('/api/v1/mailboxes/email-accounts', {
    email: `next-${jane.email}`,
    password: 'Tr0ub4dor-and-3-horses',
  })
  const { email, id } = body.data
  await acme.delete(`/api/v1/mailboxes/email-accounts/${id}`)
  const path = `${PATH}/data-erasure/${email}`
  expect((await owner.post(path, { requested_by: 'x' })).status).toBe(201)
  await acme.post('/api/v1/mailboxes/email-accounts', {
    email,
    password: 'Tr0ub4dor-and-3-horses',
  })
  await advanceDays(31)
  await eraseDue.run(app.core)
  expect(await latest(email)).toMatchObject({
    status: 'cancelled',
    error_message: expect.stringContaining('was created after the request'),
  })
})

it('refuses to erase a shared mailbox as if it were a person', async () => {
  const email = `desk-${jane.id.toLowerCase()}@acme.test`
  await acme.post('/api/v1/shared-mailboxes', { email, name: 'Desk' })
  const answer = await owner.post(`${PATH}/data-erasure/${email}`, { requested_by: 'x' })
  expect(answer).toMatchObject({ status: 409, body: { msg: expect.stringContaining('shared') } })
})
