import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { insertMailbox } from '../../../../test/support/mailboxes.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { applyRetention } from './retention.jobs.ts'

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

const daysAgo = (days: number) => new Date(app.clock.now().getTime() - days * DAY_MS).toISOString()
const insertLogRow = (id: string, days: number, sender = 'a@elsewhere.test') =>
  app.core.db
    .insertInto('mail_log')
    .values({
      id: `${acme.domain}-${id}`,
      timestamp: daysAgo(days),
      sender,
      recipient: acme.email,
      organization_id: acme.organizationId,
      status: 'sent',
    })
    .execute()
const logRows = async () =>
  (
    await app.core.db
      .selectFrom('mail_log')
      .select('id')
      .where('organization_id', '=', acme.organizationId)
      .orderBy('id')
      .execute()
  ).map(({ id }) => id.slice(acme.domain.length + 1))
const policyPath = () => `${PATH}/retention-policies/${acme.organizationId}`
const putPolicy = (body: object) => owner.put(policyPath(), { reason: REASON, ...body })
/** A policy whose grace period is over. */
const setPolicy = async (retention_days: number) => {
  await putPolicy({ retention_days })
  await app.core.db
    .updateTable('retention_policies')
    .set({ applies_from: app.clock.now().toISOString() })
    .where('organization_id', '=', acme.organizationId)
    .execute()
}
const advanceDays = async (days: number) => {
  app.clock.advance(days * DAY_MS)
  owner = await app.operator('owner')
}
const hold = (custodians: string[]) =>
  owner.post(`${PATH}/legal-holds`, {
    organization_id: acme.organizationId,
    name: 'Case 12',
    custodians,
    reason: REASON,
  })

it('deletes nothing of an organization without a retention policy', async () => {
  await insertLogRow('old', 4000)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
})

it('deletes rows older than the retention policy once a day and records the counts', async () => {
  await insertLogRow('young', 29)
  for (let index = 0; index < 3; index++) await insertLogRow(`old-${index}`, 31)
  await app.core.db
    .insertInto('quarantine')
    .values({
      id: `q-${count}`,
      organization_id: acme.organizationId,
      reason: 'spam',
      expires_at: daysAgo(-1),
      created_at: daysAgo(40),
    })
    .execute()
  await setPolicy(30)
  await Promise.all([applyRetention.run(app.core), applyRetention.run(other.core)])
  expect(await logRows()).toEqual(['young'])
  const { items } = (await owner.get(`${PATH}/audit-log?action=retention.applied`)).body.data
  expect(items).toMatchObject([
    { performed_by: 'system', details: { log_rows: 3, quarantined: 1, retention_days: 30 } },
  ])
  await insertLogRow('late', 31)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['late', 'young'])
  app.clock.advance(DAY_MS + 1)
  owner = await app.operator('owner')
  await applyRetention.run(app.core)
  expect(await logRows()).not.toContain('late')
})

it('keeps rows under a legal hold on one address or on the whole organization', async () => {
  const jane = await insertMailbox(app, acme)
  await insertLogRow('hers', 31, jane.email)
  await insertLogRow('his', 31)
  await hold([jane.email])
  await setPolicy(30)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['hers'])
  await insertLogRow('more', 31)
  const all = await hold([])
  await setPolicy(29)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['hers', 'more'])
  await owner.post(`${PATH}/legal-holds/${all.body.data.id}/release`, { reason: REASON })
  await setPolicy(28)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['hers'])
})

it('deletes old violations of data loss prevention, and keeps those under a legal hold', async () => {
  const jane = await insertMailbox(app, acme)
  const globex = await app.tenant(`globex${count}`)
  const violation = (days: number, sender: string, tenant = acme) =>
    app.core.db
      .insertInto('dlp_violations')
      .values({
        organization_id: tenant.organizationId,
        policy_id: 1,
        sender,
        violation_type: 'keyword',
        action_taken: 'log',
        severity: 'low',
        has_match: true,
        created_at: daysAgo(days),
      })
      .execute()
  await violation(29, 'young@acme.test')
  await violation(31, 'old@acme.test')
  await violation(31, jane.email.toUpperCase())
  await violation(31, 'theirs@globex.test', globex)
  await hold([jane.email])
  await setPolicy(30)
  const preview = await owner.get(`${policyPath()}/preview`)
  expect(preview.body.data.counts).toMatchObject({ dlp_violations: 1 })
  await applyRetention.run(app.core)
  const left = await app.core.db
    .selectFrom('dlp_violations')
    .select('sender')
    .where('organization_id', 'in', [acme.organizationId, globex.organizationId])
    .orderBy('id')
    .execute()
  expect(left.map(({ sender }) => sender)).toEqual([
    'young@acme.test',
    jane.email.toUpperCase(),
    'theirs@globex.test',
  ])
})

it('deletes nothing when the retention policy has legal_hold set', async () => {
  await insertLogRow('old', 31)
  await setPolicy(30)
  await app.core.db
    .updateTable('retention_policies')
    .set({ legal_hold: true })
    .where('organization_id', '=', acme.organizationId)
    .execute()
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
})

it('resumes the retention run of a killed worker after its lease has expired', async () => {
  await setPolicy(30)
  await app.core.db
    .insertInto('retention_runs')
    .values({
      organization_id: acme.organizationId,
      begun_at: daysAgo(0),
      last_email: 'm@x.test',
      counts: { messages_deleted: 7 },
      lease_owner: 'dead',
      lease_until: '2999-01-01T00:00:00Z',
    })
    .execute()
  await insertLogRow('old', 31)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
  await app.core.db
    .updateTable('retention_runs')
    .set({ lease_until: '-infinity' })
    .where('organization_id', '=', acme.organizationId)
    .execute()
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual([])
  const { items } = (await owner.get(`${PATH}/audit-log?action=retention.applied`)).body.data
  expect(items[0].details).toMatchObject({ messages_deleted: 7, log_rows: 1 })
})

it('applies a stricter policy after a grace period of 7 days, and a looser one at once (B1.5)', async () => {
  await insertLogRow('old', 400)
  await insertLogRow('older', 800)
  const first = (await putPolicy({ retention_days: 700 })).body.data
  expect(first).toMatchObject({ status: 'scheduled', in_force: null, auto_archive: false })
  expect(Date.parse(first.applies_from) - Date.parse(first.updated_at)).toBe(7 * DAY_MS)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old', 'older'])
  await advanceDays(7)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
  // Until the second policy applies, the first one does.
  const second = (await putPolicy({ retention_days: 30 })).body.data
  expect(second).toMatchObject({ status: 'scheduled', in_force: { retention_days: 700 } })
  await advanceDays(6)
  await insertLogRow('late', 800)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
  const looser = (await putPolicy({ retention_days: 900 })).body.data
  expect(looser).toMatchObject({ status: 'in_force', in_force: { retention_days: 900 } })
  await advanceDays(8)
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
})

it('keeps auto_archive as it is when only retention_days is sent (B1.5)', async () => {
  expect((await putPolicy({ retention_days: 90 })).body.data.auto_archive).toBe(false)
  await putPolicy({ retention_days: 90, auto_archive: true, archive_after_days: 20 })
  const changed = (await putPolicy({ retention_days: 80 })).body.data
  expect(changed).toMatchObject({ auto_archive: true, archive_after_days: 20 })
})

it('cancels a policy in its grace period and puts the previous one back (B1.5)', async () => {
  const cancel = () => owner.post(`${policyPath()}/cancel`, { reason: REASON })
  expect((await cancel()).status).toBe(404)
  await putPolicy({ retention_days: 365 })
  expect(await cancel()).toMatchObject({ status: 200, body: { data: null } })
  expect((await owner.get(`${PATH}/retention-policies`)).text).not.toContain(acme.organizationId)
  await setPolicy(365)
  await putPolicy({ retention_days: 30, auto_archive: true })
  const back = (await cancel()).body.data
  expect(back).toMatchObject({ retention_days: 365, auto_archive: false, status: 'in_force' })
  expect((await cancel()).status).toBe(409)
  const { items } = (await owner.get(`${PATH}/audit-log?action=retention_policy.cancelled`)).body
    .data
  expect(items[0]).toMatchObject({ details: { retention_days: 30, reason: REASON } })
})

it('keeps everything after the policy was deleted (B1.5)', async () => {
  await insertLogRow('old', 400)
  const remove = (query = `?reason=${encodeURIComponent(REASON)}`) =>
    owner.delete(`${policyPath()}${query}`)
  expect((await remove()).status).toBe(404)
  await setPolicy(365)
  expect((await remove('')).status).toBe(422)
  expect(await remove()).toMatchObject({ status: 200, body: { data: { retention_days: 365 } } })
  await applyRetention.run(app.core)
  expect(await logRows()).toEqual(['old'])
  const { items } = (await owner.get(`${PATH}/audit-log?action=retention_policy.deleted`)).body.data
  expect(items[0]).toMatchObject({ details: { reason: REASON, retention_days: 365 } })
})

it('previews the counts of a policy without changing anything (B1.5)', async () => {
  const jane = await insertMailbox(app, acme)
  const preview = (query = '') => owner.get(`${policyPath()}/preview${query}`)
  expect((await preview()).status).toBe(404)
  await insertLogRow('young', 20)
  await insertLogRow('old', 40)
  await insertLogRow('hers', 40, jane.email)
  expect((await preview('?retention_days=30')).body.data).toMatchObject({
    retention_days: 30,
    on_hold: false,
    counts: { log_rows: 2, quarantined: 0, messages_deleted: 0 },
    next_after: null,
  })
  await hold([jane.email])
  await putPolicy({ retention_days: 30 })
  expect((await preview()).body.data.counts).toMatchObject({ log_rows: 1 })
  expect((await preview('?retention_days=0')).status).toBe(422)
  await hold([])
  expect((await preview()).body.data).toMatchObject({ on_hold: true })
  expect(await logRows()).toEqual(['hers', 'old', 'young'])
})
