import { expect } from 'vitest'
import { eraseDue } from '../../../src/features/compliance/erasure/erasure.jobs.ts'
import { applyRetention } from '../../../src/features/compliance/retention/retention.jobs.ts'
import { DAY_MS } from '../../../src/lib/time.ts'
import { ACCOUNTS } from '../mailboxes.ts'
import { waitFor } from '../wait.ts'
import { imapDate } from './mail.ts'
import { COMPLIANCE, JANE, JOHN, LEA, WHY, type Year } from './world.ts'

/** A person is erased after the grace period, and only that person. */
export async function may(year: Year) {
  await year.on(5)
  const { acme } = year.story.tenants
  await year.deliver(JOHN, 'a private letter', 'john-private-letter')
  const erase = `${COMPLIANCE}/data-erasure/${JOHN}`
  const admin = await year.app.operator('admin')
  expect((await admin.post(erase, { requested_by: 'John' })).status).toBe(403)
  expect((await acme.post(erase, { requested_by: 'John' })).status).toBe(403)
  const asked = await year.root().post(erase, { requested_by: 'John' })
  expect(asked.status, asked.text).toBe(201)
  expect(await year.canRead(JOHN)).toBe(false)
  expect((await year.holder(JOHN)).login.status).toBe(401)
  expect((await year.host.receive(JOHN, 'too late')).code).toBeGreaterThanOrEqual(500)
  expect((await acme.put(year.pathOf(JOHN), { status: 'active' })).status).toBe(409)
  expect((await acme.delete(year.pathOf(JOHN))).status).toBe(409)
  const status = async () => (await year.root().get(`${erase}/status`)).body.data.items[0]
  await year.on(5, 29)
  await eraseDue.run(year.app.core)
  expect(await status()).toMatchObject({ status: 'soft_deleted' })
  expect(year.onDisk('john-private-letter')).not.toEqual([])
  await year.on(6, 2)
  await eraseDue.run(year.app.core)
  const done = await waitFor(async () => {
    const found = await status()
    return found.status === 'hard_deleted' && found
  })
  expect(done).toMatchObject({ error_message: null, removed: { mailbox: { mailboxes: 1 } } })
  expect(year.onDisk('john-private-letter')).toEqual([])
  expect((await acme.get(year.pathOf(JOHN))).status).toBe(404)
  expect((await acme.get(ACCOUNTS)).text).not.toContain(JOHN)
  expect(
    (await year.root().get(`/api/v1/message-trace/trace?recipient=${JOHN}`)).text,
  ).not.toContain('a private letter')
  expect((await year.host.receive(JOHN, 'unknown now')).code).toBe(550)
  expect(await year.subjects(JANE)).toContain('welcome')
  expect(await year.events('acme')).toContain('mailbox.deleted')
}

/** A legal hold keeps what its custodian expunges until the release. */
export async function june(year: Year) {
  await year.on(6, 10)
  const { acme } = year.story.tenants
  await year.imap(JANE, 'CREATE Case')
  await year.deliver(JANE, 'evidence', 'evidence-of-june')
  const placed = await year.root().post(`${COMPLIANCE}/legal-holds`, {
    organization_id: 'acme',
    name: 'Case 12',
    custodians: [JANE],
    reason: 'The court has asked for it',
  })
  const { id } = placed.body.data
  const enforced = () =>
    waitFor(async () => {
      const { items } = (await year.root().get(`${COMPLIANCE}/legal-holds`)).body.data
      return items.find((one: { id: number }) => one.id === id)?.enforced_at
    })
  await enforced()
  const before = (await year.subjects(JANE)).length
  await year.imap(JANE, 'SELECT INBOX', 'STORE 1:* +FLAGS (\\Deleted)', 'EXPUNGE', 'DELETE Case')
  expect(await year.subjects(JANE)).toEqual([])
  const kept = `${COMPLIANCE}/kept-mail/${JANE}`
  expect((await year.root().get(kept)).body.data.messages).toBe(before)
  const refused = await acme.delete(year.pathOf(JANE))
  expect(refused.status).toBe(409)
  expect(refused.text).toContain('legal_hold_active')
  expect(refused.text).not.toMatch(/court|Case 12/)
  expect(
    (await year.root().post(`${COMPLIANCE}/data-erasure/${JANE}`, { requested_by: 'x' })).status,
  ).toBe(409)
  expect((await year.root().delete('/api/v1/organizations/acme')).status).not.toBe(200)
  expect((await acme.get(kept)).status).toBe(403)
  const restored = await year.root().post(`${kept}/restore`, WHY)
  expect(restored.body.data).toMatchObject({ messages: before, restored_to: 'Recovered' })
  expect(await year.subjects(JANE, 'Recovered')).toContain('evidence')

  const released = await year.root().post(`${COMPLIANCE}/legal-holds/${id}/release`, WHY)
  expect(released.status).toBe(200)
  await enforced()
  expect((await year.root().get(kept)).body.data.messages).toBe(0)
  await year.imap(JANE, 'DELETE Recovered')
  expect((await year.root().get(kept)).body.data.messages).toBe(0)
  expect(year.onDisk('evidence-of-june')).toEqual([])
  expect(await year.subjects(LEA)).toContain('welcome')
}

/** A retention policy is previewed, taken back, and applied after its grace period. */
export async function july(year: Year) {
  await year.on(7)
  const { acme } = year.story.tenants
  const { core, clock } = year.app
  const policy = `${COMPLIANCE}/retention-policies/acme`
  const letter = 'From: x@elsewhere.test\r\nSubject: ancient\r\n\r\nx\r\n'
  const received = imapDate(new Date(clock.now().getTime() - 400 * DAY_MS))
  const append = `APPEND INBOX "${received}" {${letter.length}+}\r\n${letter}`
  for (const email of [JANE, LEA]) await year.imap(email, append, append)
  await year.deliver(JANE, 'young')
  const all = ['ancient', 'ancient', 'young']
  const preview = await year.root().get(`${policy}/preview?retention_days=365`)
  expect(preview.body.data).toMatchObject({ on_hold: false, counts: { messages_deleted: 2 } })
  expect((await acme.get(`${policy}/preview?retention_days=365`)).status).toBe(403)
  expect((await acme.put(policy, { retention_days: 365, ...WHY })).status).toBe(403)

  const set = () => year.root().put(policy, { retention_days: 365, ...WHY })
  expect((await set()).body.data).toMatchObject({ status: 'scheduled', in_force: null })
  const cancelled = await year.root().post(`${policy}/cancel`, WHY)
  expect(cancelled).toMatchObject({ status: 200, body: { data: null } })
  await year.on(7, 9)
  await applyRetention.run(core)
  expect((await year.subjects(JANE)).sort()).toEqual(all)

  expect((await set()).status).toBe(200)
  await year.on(7, 15)
  await applyRetention.run(core)
  expect((await year.subjects(JANE)).sort()).toEqual(all)
  await year.on(7, 17)
  await applyRetention.run(core)
  // The same job in the background may have taken the run.
  const log = `${COMPLIANCE}/audit-log?action=retention.applied`
  const applied = await waitFor(async () => (await year.root().get(log)).body.data.items[0])
  expect(applied).toMatchObject({ performed_by: 'system', details: { messages_deleted: 2 } })
  expect(await year.subjects(JANE)).toEqual(['young'])
  expect((await year.subjects(LEA)).filter((subject) => subject === 'ancient')).toHaveLength(2)
  expect((await year.holder(JANE)).login.status).toBe(200)
  const ended = await year.root().delete(`${policy}?reason=The+contract+has+ended`)
  expect(ended.status, ended.text).toBe(200)
}
