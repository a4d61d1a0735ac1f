import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { insertMailbox } from '../../../../test/support/mailboxes.ts'
import { applyRetention } from './retention.jobs.ts'

const DAY_MS = 24 * 3_600_000
const PATH = '/api/v1/compliance'
const REASON = 'As agreed with the customer'

let app: App
let other: App
let owner: Awaited<ReturnType<App['operator']>>
let acme: Awaited<ReturnType<App['tenant']>>
let count = 0
beforeAll(async () => {
  app = await startApp()
  other = await startApp({ database: app.database })
  owner = await app.operator('owner')
})
afterAll(async () => {
  await other.stop()
  await app.stop()
})
beforeEach(async () => {
  acme = await app.tenant(`acme${++count}`)
})

const ago = (days: number) => new Date(app.clock.now().getTime() - days * DAY_MS).toISOString()
const logged = (id: string, days: number, sender = 'a@elsewhere.test') =>
  app.core.db
    .insertInto('mail_log')
    .values({
      id: `${acme.domain}-${id}`,
      timestamp: ago(days),
      sender,
      recipient: acme.email,
      organization_id: acme.organizationId,
      status: 'sent',
    })
    .execute()
const left = async () =>
  (
    await app.core.db
      .selectFrom('mail_log')
      .select('id')
      .where('organization_id', '=', acme.organizationId)
      .orderBy('id')
      .execute()
  ).map(({ id }) => id.slice(acme.domain.length + 1))
const policy = (retention_days: number) =>
  owner.put(`${PATH}/retention-policies/${acme.organizationId}`, { retention_days, reason: REASON })
const hold = (custodians: string[]) =>
  owner.post(`${PATH}/legal-holds`, {
    organization_id: acme.organizationId,
    name: 'Case 12',
    custodians,
    reason: REASON,
  })

it('touches nothing of who has no policy', async () => {
  await logged('old', 4000)
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['old'])
})

it('deletes what is older than the policy says, once, and keeps a record of it', async () => {
  await logged('young', 29)
  for (let index = 0; index < 3; index++) await logged(`old-${index}`, 31)
  await app.core.db
    .insertInto('quarantine')
    .values({
      id: `q-${count}`,
      organization_id: acme.organizationId,
      reason: 'spam',
      expires_at: ago(-1),
      created_at: ago(40),
    })
    .execute()
  await policy(30)
  await Promise.all([applyRetention.run(app.core), applyRetention.run(other.core)])
  expect(await left()).toEqual(['young'])
  const { items } = (await owner.get(`${PATH}/audit-log?action=retention.applied`)).body.data
  expect(items).toMatchObject([
    { performed_by: 'system', details: { log_rows: 3, quarantined: 1, retention_days: 30 } },
  ])
  await logged('late', 31)
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['late', 'young'])
  app.clock.advance(DAY_MS + 1)
  owner = await app.operator('owner')
  await applyRetention.run(app.core)
  expect(await left()).not.toContain('late')
})

it('leaves what a hold covers: of one address, or of all', async () => {
  const jane = await insertMailbox(app, acme)
  await logged('hers', 31, jane.email)
  await logged('his', 31)
  await hold([jane.email])
  await policy(30)
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['hers'])
  await logged('more', 31)
  const all = await hold([])
  await policy(29)
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['hers', 'more'])
  await owner.post(`${PATH}/legal-holds/${all.body.data.id}/release`, { reason: REASON })
  await policy(28)
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['hers'])
})

it('obeys the flag that nothing may ever be deleted', async () => {
  await logged('old', 31)
  await policy(30)
  await app.core.db
    .updateTable('retention_policies')
    .set({ legal_hold: true })
    .where('organization_id', '=', acme.organizationId)
    .execute()
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['old'])
})

it('goes on where a killed worker was, once its lease is over', async () => {
  await policy(30)
  await app.core.db
    .insertInto('retention_runs')
    .values({
      organization_id: acme.organizationId,
      begun_at: ago(0),
      last_email: 'm@x.test',
      counts: { messages_deleted: 7 },
      lease_token: 'dead',
      lease_until: '2999-01-01T00:00:00Z',
    })
    .execute()
  await logged('old', 31)
  await applyRetention.run(app.core)
  expect(await left()).toEqual(['old'])
  await app.core.db
    .updateTable('retention_runs')
    .set({ lease_until: '-infinity' })
    .where('organization_id', '=', acme.organizationId)
    .execute()
  await applyRetention.run(app.core)
  expect(await left()).toEqual([])
  const { items } = (await owner.get(`${PATH}/audit-log?action=retention.applied`)).body.data
  expect(items[0].details).toMatchObject({ messages_deleted: 7, log_rows: 1 })
})
