import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { isSignedIn } from '../../../../test/support/mail-servers.ts'

const PATH = '/api/v1/mailbox/sessions'

let app: App
beforeAll(async () => {
  app = await startApp({ env: { SVC_MAIL_HOSTNAME: 'mail.host.test' } })
})
afterAll(() => app.stop())

describe('the sessions of a mailbox holder', () => {
  it('lists the own live sessions and marks the current one', async () => {
    const acme = await app.tenant('sign-ins')
    const jane = await app.session('mailbox', acme.accountId)
    await app.session('mailbox', acme.accountId)
    await app.session('dashboard', acme.userId)
    const { status, body } = await jane.get(PATH)
    expect(status).toBe(200)
    expect(body.data.pagination.total).toBe(2)
    expect(body.data.items.filter((one: { is_current: boolean }) => one.is_current)).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain('hash')
    expect((await jane.get(`${PATH}?page=2&per_page=1`)).body.data.items).toHaveLength(1)
  })

  it('ends one of them at once, and answers 404 the second time', async () => {
    const acme = await app.tenant('ending')
    const jane = await app.session('mailbox', acme.accountId)
    const elsewhere = await app.session('mailbox', acme.accountId)
    const { items } = (await jane.get(PATH)).body.data
    const { id } = items.find((one: { is_current: boolean }) => !one.is_current)
    expect(await jane.delete(`${PATH}/${id}`)).toMatchObject({
      status: 200,
      body: { msg: 'Session revoked', data: { revoked: 1 } },
    })
    expect(await isSignedIn(elsewhere)).toBe(false)
    expect(await isSignedIn(jane)).toBe(true)
    expect(await jane.delete(`${PATH}/${id}`)).toMatchObject({
      status: 404,
      body: { msg: 'Session not found' },
    })
  })

  it('does not end a session of another mailbox', async () => {
    const acme = await app.tenant('mine')
    const other = await app.tenant('theirs')
    const jane = await app.session('mailbox', acme.accountId)
    const joe = await app.session('mailbox', other.accountId)
    const { id } = (await joe.get(PATH)).body.data.items[0]
    expect((await jane.delete(`${PATH}/${id}`)).status).toBe(404)
    expect(await isSignedIn(joe)).toBe(true)
  })

  it('rejects an API key with 401', async () => {
    const acme = await app.tenant('keys')
    expect((await acme.get(PATH)).status).toBe(401)
    expect((await acme.delete(`${PATH}/x`)).status).toBe(401)
  })
})

describe('the profile of a mailbox holder', () => {
  const PROFILE = '/api/v1/mailbox/profile'

  it('has storage with the limit that applies, and the servers for mail programs', async () => {
    const acme = await app.tenant('profile')
    const jane = await app.session('mailbox', acme.accountId)
    const { status, body } = await jane.get(PROFILE)
    expect(status).toBe(200)
    expect(body.data).toMatchObject({
      email_address: acme.email,
      storage_used: 0,
      must_change_password: false,
      password_change_reason: null,
    })
    expect(body.data.servers).toContainEqual({
      protocol: 'imap',
      host: 'mail.host.test',
      port: 993,
      encryption: 'tls',
    })
    const set = (storage_quota: number) =>
      app.core.db
        .updateTable('email_accounts')
        .set({ storage_quota })
        .where('id', '=', acme.accountId)
        .execute()
    const { max_quota } = await app.core.db
      .selectFrom('domains')
      .select('max_quota')
      .where('id', '=', acme.domainId)
      .executeTakeFirstOrThrow()
    await set(5_000_000)
    expect((await jane.get(PROFILE)).body.data.storage_quota).toBe(5_000_000)
    await set(0)
    expect((await jane.get(PROFILE)).body.data.storage_quota).toBe(max_quota)
  })

  it('can be read before a forced change of the password; sessions cannot', async () => {
    const acme = await app.tenant('forced')
    await app.core.db
      .updateTable('email_accounts')
      .set({ must_change_password: true, password_change_reason: 'Set by an administrator' })
      .where('id', '=', acme.accountId)
      .execute()
    const jane = await app.session('mailbox', acme.accountId)
    expect((await jane.get(PROFILE)).body.data).toMatchObject({
      must_change_password: true,
      password_change_reason: 'Set by an administrator',
    })
    expect((await jane.get(PATH)).status).toBe(403)
    expect((await acme.get(PROFILE)).status).toBe(401)
  })
})
