import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { isSignedIn, startMailServers } from '../../../../test/support/mail-servers.ts'

const PATH = '/api/v1/mailbox/password'
const NEW_PASSWORD = 'another-passphrase-77'

let app: App
let mail: Awaited<ReturnType<typeof startMailServers>>
beforeAll(async () => {
  mail = await startMailServers()
  app = await startApp({ env: mail.env })
})
afterAll(async () => {
  await app.stop()
  await mail.stop()
})

describe('changing the password of a mailbox', () => {
  it('checks the password policy before the current password', async () => {
    const acme = await app.tenant('acme')
    const jane = await app.session('mailbox', acme.accountId)
    expect(
      await jane.post(PATH, { current_password: 'wrong', new_password: 'short1' }),
    ).toMatchObject({
      status: 422,
      body: { detail: [{ msg: 'Password must be at least 12 characters long' }] },
    })
  })

  it('ends the other sessions, keeps this one and emits an event', async () => {
    const acme = await app.tenant('changing')
    mail.passwords.set(acme.email, PASSWORD)
    const jane = await app.session('mailbox', acme.accountId)
    const elsewhere = await app.session('mailbox', acme.accountId)
    const answer = await jane.post(PATH, {
      current_password: PASSWORD,
      new_password: NEW_PASSWORD,
    })
    expect(answer).toMatchObject({
      status: 200,
      body: { msg: 'Password changed', data: { sessions_revoked: 1 } },
    })
    expect(await isSignedIn(jane)).toBe(true)
    expect(await isSignedIn(elsewhere)).toBe(false)
    expect(mail.flushed()).toContain(acme.email)
    const row = await app.core.db
      .selectFrom('email_accounts')
      .select(['password_hash', 'must_change_password'])
      .where('id', '=', acme.accountId)
      .executeTakeFirstOrThrow()
    expect(await app.core.passwords.matches(NEW_PASSWORD, row.password_hash)).toBe(true)
    const events = await app.core.db
      .selectFrom('events')
      .select(['event', 'org_id', 'data'])
      .where('org_id', '=', acme.organizationId)
      .execute()
    expect(events).toEqual([
      {
        event: 'mailbox.password.changed',
        org_id: acme.organizationId,
        data: {
          account_id: acme.accountId,
          email: acme.email,
          organization_id: acme.organizationId,
          changed_by: 'mailbox_holder',
          sessions_revoked: 1,
        },
      },
    ])
  })

  it('rejects a wrong current password and throttles after three failures', async () => {
    const acme = await app.tenant('guessing')
    const jane = await app.session('mailbox', acme.accountId)
    const statuses: number[] = []
    for (let guess = 0; guess < 4; guess++) {
      const body = { current_password: `guess ${guess}`, new_password: NEW_PASSWORD }
      statuses.push((await jane.post(PATH, body)).status)
    }
    expect(statuses).toEqual([400, 400, 400, 429])
  })

  it('is required before other routes after a temporary reset', async () => {
    const acme = await app.tenant('demanded')
    mail.passwords.set(acme.email, NEW_PASSWORD)
    await acme.post(`/api/v1/mailboxes/email-accounts/${acme.accountId}/reset-password`, {
      new_password: NEW_PASSWORD,
      temporary: true,
    })
    const jane = await app.session('mailbox', acme.accountId)
    expect(await jane.get('/api/v1/mailbox/two-factor')).toMatchObject({
      status: 403,
      body: { error_code: 'password_change_required', msg: 'Set a new password to continue' },
    })
    const passwords = { current_password: NEW_PASSWORD, new_password: 'a-third-passphrase-3' }
    // Another client IP: the failures of the test above have blocked the default one.
    const changed = await jane.post(PATH, passwords, { from: '127.0.31.1' })
    expect(changed.status).toBe(200)
    expect((await jane.get('/api/v1/mailbox/two-factor')).status).toBe(200)
  })
})
