import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type Doveadm, startDoveadm } from '../../../../test/support/doveadm.ts'
import { insertMailbox, mailboxRow } from '../../../../test/support/mailboxes.ts'

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

const hold = async (more: object = {}) => {
  const { body } = await owner.post(`${PATH}/legal-holds`, {
    organization_id: acme.organizationId,
    name: 'Secret case 12',
    reason: REASON,
    custodians: [jane.email],
    ...more,
  })
  return () => owner.post(`${PATH}/legal-holds/${body.data.id}/release`, { reason: REASON })
}
const deleteDomain = async () =>
  (await acme.post('/api/v1/domains/delete/domain', ['acme.test'])).body.data[0]
const HELD = { status: 409, body: { code: 'legal_hold_active' } }

it('rejects every way to delete a mailbox under a legal hold', async () => {
  const release = await hold()
  const path = `/api/v1/mailboxes/email-accounts/${jane.id}`
  const refused = await acme.delete(path)
  expect(refused.status).toBe(409)
  expect(refused.text).toContain('legal_hold_active')
  expect(refused.text).not.toContain('Secret')
  const older = await acme.post('/api/v1/mailboxes/delete', [jane.email])
  expect(older.body.data).toMatchObject([{ status: 'error', msg: expect.stringMatching(/hold/) }])
  expect(await deleteDomain()).toMatchObject({
    status: 'error',
    msg: expect.stringMatching(/hold/),
  })
  expect(await mailboxRow(app, jane.id)).toBeDefined()
  await release()
  expect((await acme.delete(path)).status).toBe(200)
})

it('rejects deleting a shared mailbox under a legal hold and the domain of that mailbox', async () => {
  const email = `team-${jane.id.toLowerCase()}@acme.test`
  const { body } = await acme.post('/api/v1/shared-mailboxes', { email, name: 'Team' })
  const release = await hold({ custodians: [email] })
  const path = `/api/v1/shared-mailboxes/${body.data.id}`
  const refused = await acme.delete(path)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(HELD.body.code)])
  expect(await deleteDomain()).toMatchObject({ status: 'error' })
  await release()
  expect((await acme.delete(path)).status).toBe(200)
})

it('rejects deleting a domain while one of its mailboxes is being erased', async () => {
  await owner.post(`${PATH}/data-erasure/${jane.email}`, { requested_by: 'jane' })
  expect(await deleteDomain()).toMatchObject({
    status: 'error',
    msg: expect.stringMatching(/being erased/),
  })
  expect(await mailboxRow(app, jane.id)).toBeDefined()
})

it('rejects deleting an empty organization under a legal hold', async () => {
  const organization = { id: 'hollow', name: 'Hollow' }
  await app.core.db.insertInto('organizations').values(organization).execute()
  const release = await hold({ organization_id: 'hollow', custodians: [] })
  const path = '/api/v1/organizations/hollow'
  const refused = await owner.delete(path)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(HELD.body.code)])
  await release()
  expect((await owner.delete(path)).status).toBe(200)
})

it('rejects deleting an empty domain while a legal hold covers its addresses (B1.3)', async () => {
  const domain = `spare-${jane.id.toLowerCase()}.test`
  const { id } = await app.hostedDomain(acme, { domain })
  const path = `/api/v1/domains/${id}`
  const release = await hold({ custodians: [`left@${domain}`] })
  const refused = await acme.delete(path)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(HELD.body.code)])
  const older = await acme.post('/api/v1/domains/delete/domain', [domain])
  expect(older.body.data[0]).toMatchObject({ status: 'error', msg: expect.stringMatching(/hold/) })
  await release()
  expect((await acme.delete(path)).status).toBe(200)
})

it('rejects deleting a domain with a held shared mailbox by either route (B1.3)', async () => {
  const domain = `team-${jane.id.toLowerCase()}.test`
  const { id } = await app.hostedDomain(acme, { domain })
  const email = `desk@${domain}`
  const verified = { verified_at: new Date().toISOString() }
  await app.core.db.updateTable('domains').set(verified).where('id', '=', id).execute()
  const made = await acme.post('/api/v1/shared-mailboxes', { email, name: 'Desk' })
  expect(made.status).toBe(201)
  const release = await hold({ custodians: [email] })
  expect((await acme.delete(`/api/v1/domains/${id}`)).status).toBe(409)
  const shared = () =>
    app.core.db.selectFrom('shared_mailboxes').select('id').where('email', '=', email).execute()
  expect(await shared()).toHaveLength(1)
  await release()
  expect((await acme.delete(`/api/v1/domains/${id}`)).status).toBe(200)
  expect(await shared()).toEqual([])
})

it('lets no statement of any job delete what a legal hold covers (B1.3)', async () => {
  const release = await hold()
  const { db } = app.core
  const held = /a legal hold covers/
  await expect(db.deleteFrom('email_accounts').where('id', '=', jane.id).execute()).rejects.toThrow(
    held,
  )
  await expect(
    db.deleteFrom('domains').where('organization_id', '=', acme.organizationId).execute(),
  ).rejects.toThrow(held)
  await release()
  await db.deleteFrom('email_accounts').where('id', '=', jane.id).execute()
})

it('leaves out mailboxes under a legal hold when old mail is cleaned up (B1.3)', async () => {
  const john = await insertMailbox(app, acme)
  const release = await hold()
  const cleanUp = async () => {
    doveadm.asked.length = 0
    const body = { domain: 'acme.test', delete_mail: true, older_than_days: 1 }
    const { status } = await owner.post('/api/v1/storage/cleanup', body)
    expect(status).toBe(200)
    return doveadm.asked
      .flatMap(({ commands }) => commands)
      .filter(([name]) => name === 'search')
      .map(([, { user }]) => user)
  }
  const searched = await cleanUp()
  expect(searched).toContain(john.email)
  expect(searched).not.toContain(jane.email)
  await release()
  expect(await cleanUp()).toContain(jane.email)
})
