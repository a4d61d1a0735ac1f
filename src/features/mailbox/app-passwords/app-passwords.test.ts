import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { sha256 } from '../../../lib/tokens.ts'

const PATH = '/api/v1/mailbox/app-passwords'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

async function holderOf(name: string) {
  const tenant = await app.tenant(name)
  const session = await app.session('mailbox', tenant.accountId)
  return { ...session, tenant }
}

const eventsOf = async (organizationId: string) =>
  (
    await app.core.db
      .selectFrom('events')
      .select(['event', 'data'])
      .where('org_id', '=', organizationId)
      .where('event', 'like', 'mailbox.app_password.%')
      .orderBy('sequence')
      .execute()
  ).map(({ event }) => event)

describe('app passwords of a mailbox holder', () => {
  it('are shown once, listed without the password and stored as a hash', async () => {
    const jane = await holderOf('shown')
    const made = await jane.post(PATH, { name: 'Phone', scopes: ['imap', 'smtp'] })
    expect(made).toMatchObject({
      status: 201,
      body: { data: { name: 'Phone', scopes: ['imap', 'smtp'], last_used_at: null } },
    })
    const { password } = made.body.data
    expect(password).toMatch(/^[a-z2-9]{5}(-[a-z2-9]{5}){3}$/)
    const listed = await jane.get(PATH)
    expect(listed.body.data.items).toHaveLength(1)
    expect(listed.text).not.toContain(password)
    expect(listed.text).not.toContain('hash')
    const rows = await app.core.db.selectFrom('app_passwords').selectAll().execute()
    expect(rows.map((row) => row.password_hash)).toContain(sha256(password))
    expect(JSON.stringify(rows)).not.toContain(password)
    expect(await eventsOf(jane.tenant.organizationId)).toEqual(['mailbox.app_password.created'])
  })

  it('are revoked once, with an event, and 404 follows', async () => {
    const jane = await holderOf('revoked')
    const { id } = (await jane.post(PATH, { name: 'Phone', scopes: ['imap'] })).body.data
    expect(await jane.delete(`${PATH}/${id}`)).toMatchObject({
      status: 200,
      body: { data: { id } },
    })
    expect(await jane.delete(`${PATH}/${id}`)).toMatchObject({
      status: 404,
      body: { msg: 'App password not found' },
    })
    expect((await jane.get(PATH)).body.data.items).toEqual([])
    expect(await eventsOf(jane.tenant.organizationId)).toEqual([
      'mailbox.app_password.created',
      'mailbox.app_password.revoked',
    ])
  })

  it('of another mailbox are not found, and keys get no list', async () => {
    const jane = await holderOf('own')
    const joe = await holderOf('foreign')
    const { id } = (await joe.post(PATH, { name: 'Phone', scopes: ['imap'] })).body.data
    expect((await jane.delete(`${PATH}/${id}`)).status).toBe(404)
    expect((await jane.get(PATH)).body.data.items).toEqual([])
    expect((await joe.get(PATH)).body.data.items).toHaveLength(1)
    expect((await jane.tenant.get(PATH)).status).toBe(401)
  })

  it.each([
    [{ name: '', scopes: ['imap'] }],
    [{ name: 'x', scopes: [] }],
    [{ name: 'x', scopes: ['imap', 'imap'] }],
    [{ name: 'x', scopes: ['admin'] }],
    [{ name: 'x'.repeat(101), scopes: ['imap'] }],
    [{ scopes: ['imap'] }],
  ])('need a name and known scopes: case %#', async (body) => {
    const jane = await holderOf(`refused-${JSON.stringify(body).length}`)
    expect((await jane.post(PATH, body)).status).toBe(422)
  })

  it('are limited to fifty, also when they are made at once', async () => {
    const jane = await holderOf('many')
    const answers = await Promise.all(
      Array.from({ length: 55 }, (_, at) => jane.post(PATH, { name: `${at}`, scopes: ['imap'] })),
    )
    const refused = answers.filter(({ status }) => status === 409)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.body).toMatchObject({ error_code: 'TOO_MANY_APP_PASSWORDS' })
    expect((await jane.get(PATH)).body.data.pagination.total).toBe(50)
  })

  it('end with a new password of the mailbox', async () => {
    const jane = await holderOf('changed')
    await jane.post(PATH, { name: 'Phone', scopes: ['imap'] })
    const path = `/api/v1/mailboxes/email-accounts/${jane.tenant.accountId}`
    expect((await jane.tenant.put(path, { name: 'Jane' })).status).toBe(200)
    const left = () =>
      app.core.db
        .selectFrom('app_passwords')
        .select('id')
        .where('email_account_id', '=', jane.tenant.accountId)
        .execute()
    expect(await left()).toHaveLength(1)
    expect((await jane.tenant.put(path, { password: 'another-passphrase-77' })).status).toBe(200)
    expect(await left()).toEqual([])
  })
})
