import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { ulid } from '../../lib/ulid.ts'

let app: App
type Tenant = Awaited<ReturnType<App['tenant']>>
let acme: Tenant
let globex: Tenant
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

let count = 0
let id: string
let jane: { id: string; email: string }
beforeEach(async () => {
  count++
  const body = { email: `team${count}@acme.test`, name: 'Team' }
  id = (await acme.post('/api/v1/shared-mailboxes', body)).body.data.id
  jane = await account(`jane${count}@acme.test`)
})

const account = async (email: string, tenant: Tenant = acme) => {
  const row = {
    id: ulid(),
    email,
    organization_id: tenant.organizationId,
    domain_id: tenant.domainId,
    password_hash: '',
    name: 'Jane',
  }
  await app.core.db.insertInto('email_accounts').values(row).execute()
  return row
}
const suspend = (accountId: string) =>
  app.core.db
    .updateTable('email_accounts')
    .set({ status: 'suspended' })
    .where('id', '=', accountId)
    .execute()
const path = (member?: string) =>
  `/api/v1/shared-mailboxes/${id}/members${member ? `/${encodeURIComponent(member)}` : ''}`
const add = (email_account_id: unknown, permission?: string, client: Pick<Tenant, 'post'> = acme) =>
  client.post(path(), { email_account_id, ...(permission && { permission }) })
const members = async () => (await acme.get(`/api/v1/shared-mailboxes/${id}`)).body.data.members
const stored = () =>
  app.core.db
    .selectFrom('shared_mailbox_members')
    .selectAll()
    .where('shared_mailbox_id', '=', id)
    .execute()
const events = async () => {
  const rows = await app.core.db.selectFrom('events').selectAll().orderBy('sequence').execute()
  return rows
    .filter(({ data }) => (data as { shared_mailbox_id?: string }).shared_mailbox_id === id)
    .slice(1)
}

describe('adding a member', () => {
  it('rejects an invalid body', async () => {
    for (const body of [
      {},
      { email_account_id: 7 },
      { email_account_id: jane.id, permission: 'owner' },
    ]) {
      const answer = await acme.post(path(), body)
      expect(answer.status).toBe(422)
      expect(answer.body.detail).toHaveLength(1)
    }
    expect(await stored()).toEqual([])
  })

  it("returns 404 for an unknown, suspended or another organization's account", async () => {
    const sleeping = await account(`sleeping${count}@acme.test`)
    await suspend(sleeping.id)
    const names = [
      ulid(),
      '',
      'nobody@acme.test',
      globex.accountId,
      globex.email,
      sleeping.id,
      sleeping.email,
      `team${count}@acme.test`,
      "' or 1=1 --",
    ]
    for (const name of names) {
      expect(await add(name)).toMatchObject({
        status: 404,
        body: { msg: 'Email account not found' },
      })
    }
    expect(await stored()).toEqual([])
  })

  it("returns 404 for a deleted or another organization's shared mailbox", async () => {
    const msg = 'Shared mailbox not found'
    expect(await add(globex.accountId, undefined, globex)).toMatchObject({
      status: 404,
      body: { msg },
    })
    await acme.delete(`/api/v1/shared-mailboxes/${id}`)
    expect(await add(jane.id)).toMatchObject({ status: 404, body: { msg } })
    expect(await acme.put(path(jane.id))).toMatchObject({ status: 404, body: { msg } })
    expect(await acme.delete(path(jane.id))).toMatchObject({ status: 404, body: { msg } })
    expect(await stored()).toEqual([])
  })

  it('accepts an id or an address, with full access by default', async () => {
    const answer = await add(jane.email.toUpperCase())
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Member added successfully' } })
    const { member_id } = answer.body.data
    expect(answer.body.data).toEqual({
      member_id: expect.any(String),
      email_account_id: jane.id,
      email: jane.email,
      permission: 'full_access',
    })
    await add(acme.accountId, 'read_only')
    expect(await members()).toEqual([
      {
        email_account_id: acme.accountId,
        member_email: acme.email,
        member_name: 'Admin',
        permission: 'read_only',
      },
      {
        email_account_id: jane.id,
        member_email: jane.email,
        member_name: 'Jane',
        permission: 'full_access',
      },
    ])
    expect((await stored())[0]).toMatchObject({ granted_by: `api-key:${acme.organizationId}` })
    expect((await events())[0]).toMatchObject({
      event: 'shared_mailbox.member.added',
      org_id: acme.organizationId,
      domain: 'acme.test',
      data: { member_id, member_email: jane.email, permission: 'full_access' },
    })
  })

  it('a second time changes the permission, and emits an event only for a change', async () => {
    const first = (await add(jane.id, 'send_as')).body.data
    const user = await app.dashboard(acme.email)
    const again = (await add(jane.email, 'read_only', user)).body.data
    expect(again).toEqual({ ...first, permission: 'read_only' })
    await add(jane.id, 'read_only')
    expect(await stored()).toMatchObject([
      { permission: 'read_only', granted_by: `user:${acme.email}` },
    ])
    expect((await events()).map(({ event }) => event)).toEqual([
      'shared_mailbox.member.added',
      'shared_mailbox.permission.changed',
    ])
  })

  it('in many concurrent requests creates one member', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => add(jane.id)))
    expect(new Set(answers.map(({ body }) => body.data.member_id)).size).toBe(1)
    expect(await stored()).toHaveLength(1)
    expect(await events()).toHaveLength(1)
  })

  it('during the deletion of the mailbox leaves no member behind', async () => {
    await Promise.all([
      add(jane.id),
      acme.delete(`/api/v1/shared-mailboxes/${id}`),
      add(acme.accountId),
    ])
    expect(await stored()).toEqual([])
  })

  it('lets a platform key add accounts of the organization of the mailbox', async () => {
    const operator = await app.operator('operator')
    expect((await add(globex.accountId, undefined, operator)).status).toBe(404)
    expect((await add(jane.id, undefined, operator)).status).toBe(200)
    expect(await stored()).toMatchObject([{ granted_by: `operator:${operator.id}` }])
  })
})

describe('changing and removing a member', () => {
  it('returns 404 for an account that is no member', async () => {
    for (const name of [jane.id, jane.email, 'nobody@acme.test', globex.email, 'x']) {
      const msg = 'Member not found'
      const body = { email_account_id: jane.id, permission: 'read_only' }
      expect(await acme.put(path(name), body)).toMatchObject({ status: 404, body: { msg } })
      expect(await acme.delete(path(name))).toMatchObject({ status: 404, body: { msg } })
    }
    expect(await events()).toEqual([])
  })

  it("is rejected in another organization's mailbox and with a read-only key", async () => {
    await add(jane.id, 'read_only')
    const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
    for (const [client, status] of [
      [globex, 404],
      [reader, 403],
    ] as const) {
      expect((await client.put(path(jane.id), { permission: 'send_as' })).status).toBe(status)
      expect((await client.delete(path(jane.id))).status).toBe(status)
      expect((await client.post(path(), { email_account_id: jane.id })).status).toBe(status)
    }
    expect(await stored()).toMatchObject([{ permission: 'read_only' }])
  })

  it('changes the member of the path and ignores the account in the body', async () => {
    await add(jane.id, 'read_only')
    const answer = await acme.put(path(jane.email), {
      email_account_id: acme.accountId,
      permission: 'send_on_behalf',
    })
    expect(answer).toMatchObject({
      status: 200,
      body: { data: { email_account_id: jane.id, permission: 'send_on_behalf' } },
    })
    expect((await acme.put(path(jane.id), { permission: 'none' })).status).toBe(422)
    expect((await events()).at(-1)).toMatchObject({
      event: 'shared_mailbox.permission.changed',
      data: { permission: 'send_on_behalf', previous_permission: 'read_only' },
    })
    expect(await members()).toMatchObject([{ permission: 'send_on_behalf' }])
  })

  it('removes all access, also of a suspended member', async () => {
    await add(jane.id)
    await suspend(jane.id)
    expect(await acme.delete(path(jane.email))).toMatchObject({
      status: 200,
      body: { msg: 'Member removed successfully' },
    })
    expect(await members()).toEqual([])
    expect((await acme.delete(path(jane.id))).status).toBe(404)
    expect((await events()).at(-1)).toMatchObject({
      event: 'shared_mailbox.member.removed',
      data: { member_account_id: jane.id, member_email: jane.email },
    })
  })

  it('removes the member when its account is deleted', async () => {
    await add(jane.id)
    await app.core.db.deleteFrom('email_accounts').where('id', '=', jane.id).execute()
    expect(await members()).toEqual([])
  })
})
