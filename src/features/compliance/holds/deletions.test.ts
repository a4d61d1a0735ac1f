import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { insertMailbox, mailboxRow } from '../../../../test/support/mailboxes.ts'

const PATH = '/api/v1/compliance'
const REASON = 'The court has asked for it'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let owner: Awaited<ReturnType<App['operator']>>
let jane: Awaited<ReturnType<typeof insertMailbox>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
})
afterAll(() => app.stop())
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

it('keeps a mailbox on hold from being deleted, in every way there is', async () => {
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

it('keeps a shared mailbox on hold, and a domain that has one', async () => {
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

it('keeps a domain while one of its mailboxes is being erased, whose mail would stay behind', async () => {
  await owner.post(`${PATH}/data-erasure/${jane.email}`, { requested_by: 'jane' })
  expect(await deleteDomain()).toMatchObject({
    status: 'error',
    msg: expect.stringMatching(/being erased/),
  })
  expect(await mailboxRow(app, jane.id)).toBeDefined()
})

it('keeps an organization with a hold, also when it has nothing else', async () => {
  const organization = { id: 'hollow', name: 'Hollow' }
  await app.core.db.insertInto('organizations').values(organization).execute()
  const release = await hold({ organization_id: 'hollow', custodians: [] })
  const path = '/api/v1/organizations/hollow'
  const refused = await owner.delete(path)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining(HELD.body.code)])
  await release()
  expect((await owner.delete(path)).status).toBe(200)
})
