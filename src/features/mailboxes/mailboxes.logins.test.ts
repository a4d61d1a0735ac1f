import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { isSignedIn, startMailServers } from '../../../test/support/mail-servers.ts'
import {
  ACCOUNTS,
  eventsOf,
  insertMailbox,
  mailboxRow,
  NEW_PASSWORD,
} from '../../../test/support/mailboxes.ts'
import { waitFor } from '../../../test/support/wait.ts'

type Tenant = Awaited<ReturnType<App['tenant']>>
let app: App
let mail: Awaited<ReturnType<typeof startMailServers>>
let acme: Tenant

beforeAll(async () => {
  mail = await startMailServers()
  app = await startApp({ env: mail.env })
  acme = await app.tenant('acme')
})
afterAll(async () => {
  await app.stop()
  await mail.stop()
})

const mailbox = (more: Parameters<typeof insertMailbox>[2] = {}) => insertMailbox(app, acme, more)

describe('a mailbox change', () => {
  it('with a new password ends the sessions, flushes the Dovecot cache, and never returns the password', async () => {
    const { id, path, email } = await mailbox()
    const holder = await app.session('mailbox', id)
    expect(await isSignedIn(holder)).toBe(true)
    const answer = await acme.put(path, { password: NEW_PASSWORD, name: 'X' })
    expect(answer.status).toBe(200)
    expect(await isSignedIn(holder)).toBe(false)
    expect(mail.flushed()).toContain(email)
    await waitFor(() => mail.kicked().includes(email))
    expect(
      await app.core.passwords.matches(NEW_PASSWORD, (await mailboxRow(app, id))?.password_hash),
    ).toBe(true)
    const who = { account_id: id, email, organization_id: acme.organizationId }
    expect((await eventsOf(app, id)).map(({ event, data }) => [event, data])).toEqual([
      ['mailbox.updated', { ...who, updated_fields: ['name'] }],
      [
        'mailbox.password.changed',
        { ...who, changed_by: 'admin', sessions_revoked: 1, temporary: false },
      ],
    ])
    expect(answer.text).not.toContain(NEW_PASSWORD)
  })

  it('with a new status ends the sessions and emits the matching event', async () => {
    const { id, path, email } = await mailbox()
    const holder = await app.session('mailbox', id)
    await acme.put(path, { name: 'X' })
    expect(await isSignedIn(holder)).toBe(true)
    expect(mail.flushed()).not.toContain(email)
    for (const status of ['suspended', 'inactive', 'inactive', 'active']) {
      expect((await acme.put(path, { status })).body.data.status).toBe(status)
    }
    expect(await isSignedIn(holder)).toBe(false)
    // Three changes, and once more before the sessions of mail programs are ended.
    await waitFor(() => mail.kicked().includes(email))
    expect(mail.flushed().filter((one) => one === email)).toHaveLength(4)
    expect((await eventsOf(app, id)).map(({ event }) => event)).toEqual([
      'mailbox.updated',
      'mailbox.updated',
      'mailbox.suspended',
      'mailbox.updated',
      'mailbox.updated',
      'mailbox.updated',
      'mailbox.activated',
    ])
  })

  it('without password and status keeps the sessions', async () => {
    const { id, path } = await mailbox()
    const holder = await app.session('mailbox', id)
    await acme.put(path, { status: 'active', name: 'X', storage_quota: 1 })
    expect(await isSignedIn(holder)).toBe(true)
  })
})

describe('a mailbox password reset', () => {
  it.each([
    [{ new_password: 'short1' }, 'Password must be at least 12 characters long', 'weak_password'],
    [{ new_password: '' }, 'Password must be at least 12 characters long', 'weak_password'],
    [{ temporary: true }, 'Password is required', 'weak_password'],
    [
      { new_password: NEW_PASSWORD, reason: 'expired' },
      'reason must be one of temporary, admin_reset',
      undefined,
    ],
    [{ new_password: NEW_PASSWORD, temporary: 1 }, 'temporary must be a boolean', undefined],
  ])('rejects %j: %s', async (body, msg, error_code) => {
    const answer = await acme.post(`${ACCOUNTS}/${acme.accountId}/reset-password`, body)
    expect(answer).toMatchObject({ status: 400, body: { msg } })
    expect(answer.body.error_code).toBe(error_code)
  })

  it.each([
    [{}, false, null],
    [{ reason: 'admin_reset' }, false, null],
    [{ temporary: true }, true, 'temporary'],
    [{ temporary: true, reason: 'admin_reset' }, true, 'admin_reset'],
  ])('with %j must be changed: %j, because %j', async (more, mustChange, reason) => {
    const { id, path, email } = await mailbox()
    await app.session('mailbox', id)
    await app.session('mailbox', id)
    const answer = await acme.post(`${path}/reset-password`, {
      new_password: NEW_PASSWORD,
      ...more,
    })
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'Password reset',
        data: {
          account_id: id,
          email,
          must_change_password: mustChange,
          password_change_reason: reason,
          sessions_revoked: 2,
          cache_flushed: true,
        },
      },
    })
    expect(await eventsOf(app, id)).toMatchObject([
      { event: 'mailbox.password.changed', data: { sessions_revoked: 2, temporary: mustChange } },
    ])
  })

  it('succeeds although the Dovecot cache cannot be flushed', async () => {
    const deaf = await startApp({
      database: app.database,
      env: { DOVEADM_URL: 'http://127.0.0.1:9', DOVEADM_API_KEY: 'key' },
    })
    try {
      const { path } = await mailbox()
      const answer = await deaf.send('POST', `${path}/reset-password`, {
        headers: { 'x-api-key': acme.apiKey },
        body: { new_password: NEW_PASSWORD },
      })
      expect(answer).toMatchObject({ status: 200, body: { data: { cache_flushed: false } } })
    } finally {
      await deaf.stop()
    }
  })
})
