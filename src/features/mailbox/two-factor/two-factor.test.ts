import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, PASSWORD, startApp } from '../../../../test/support/app.ts'
import { startMailServers } from '../../../../test/support/mail-servers.ts'

const PATH = '/api/v1/mailbox/two-factor'
const STEP_MS = 30_000

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

/** Creates a tenant of its own, so that failed codes do not block other tests, and signs in. */
async function holder(name: string) {
  const { accountId, email } = await app.tenant(name)
  mail.passwords.set(email, PASSWORD)
  return { ...(await app.session('mailbox', accountId)), accountId, email }
}
const enrolled = async (name: string) => {
  const jane = await holder(name)
  const { secret, backup_codes } = (await jane.post(`${PATH}/setup`)).body.data
  const confirmed = await jane.post(`${PATH}/confirm`, { code: app.code(secret) })
  expect(confirmed.status).toBe(200)
  app.clock.advance(STEP_MS)
  return { ...jane, secret: secret as string, backupCodes: backup_codes as string[] }
}
const login = (email_address: string, two_factor_code?: string) =>
  app.send('POST', '/api/v1/mailbox-auth/login', {
    body: { email_address, password: PASSWORD, ...(two_factor_code && { two_factor_code }) },
  })

describe('the second factor of a mailbox', () => {
  it('rejects an API key with 401', async () => {
    const acme = await app.tenant('acme')
    for (const [method, path] of [
      ['GET', PATH],
      ['POST', `${PATH}/setup`],
      ['POST', `${PATH}/confirm`],
      ['DELETE', PATH],
    ] as const) {
      expect(await acme.call(method, path)).toMatchObject({
        status: 401,
        body: { msg: 'Authentication required' },
      })
    }
  })

  it('is off at first, and confirm and disable return 409', async () => {
    const jane = await holder('off')
    expect((await jane.get(PATH)).body.data).toEqual({
      enabled: false,
      pending: false,
      enabled_at: null,
      backup_codes_left: 0,
    })
    expect((await jane.post(`${PATH}/confirm`, { code: '123456' })).status).toBe(409)
    expect((await jane.delete(PATH, { two_factor_code: '123456' })).status).toBe(409)
  })

  it('is pending until the first code; a second setup replaces the secret', async () => {
    const jane = await holder('pending')
    const first = (await jane.post(`${PATH}/setup`)).body.data
    expect(first.secret).toMatch(/^[A-Z2-7]{32}$/)
    expect(first.otpauth_uri).toContain('pending.test')
    expect((await jane.get(PATH)).body.data).toMatchObject({ enabled: false, pending: true })
    expect((await login(jane.email)).body.data.token).toBeDefined()
    const second = (await jane.post(`${PATH}/setup`)).body.data
    expect(second.secret).not.toBe(first.secret)
    expect(await jane.post(`${PATH}/confirm`, { code: app.code(first.secret) })).toMatchObject({
      status: 400,
      body: { msg: 'Invalid two-factor code' },
    })
    const backup = await jane.post(`${PATH}/confirm`, { code: second.backup_codes[0] })
    expect(backup.status).toBe(400)
    expect((await jane.post(`${PATH}/confirm`, { code: app.code(second.secret) })).status).toBe(200)
  })

  it('is required at login once enabled, and its secret is not returned again', async () => {
    const jane = await enrolled('asked')
    expect((await login(jane.email)).body.data).toEqual({ two_factor_required: true })
    expect((await login(jane.email, app.code(jane.secret))).body.data.token).toBeDefined()
    expect((await login(jane.email, jane.backupCodes[0])).body.data.token).toBeDefined()
    const status = await jane.get(PATH)
    expect(status.body.data).toMatchObject({ enabled: true, pending: false, backup_codes_left: 7 })
    expect(status.text).not.toContain(jane.secret)
    expect(await jane.post(`${PATH}/setup`)).toMatchObject({ status: 409 })
    expect(await jane.post(`${PATH}/confirm`, { code: app.code(jane.secret, 1) })).toMatchObject({
      status: 409,
    })
  })

  it('is disabled with an unused code only', async () => {
    const jane = await enrolled('disabled')
    const code = app.code(jane.secret)
    expect((await login(jane.email, code)).status).toBe(200)
    expect((await jane.delete(PATH)).status).toBe(422)
    expect((await jane.delete(PATH, { two_factor_code: code })).status).toBe(400)
    expect((await jane.get(PATH)).body.data.enabled).toBe(true)
    app.clock.advance(STEP_MS)
    const two_factor_code = app.code(jane.secret)
    expect((await jane.delete(PATH, { two_factor_code })).status).toBe(200)
    expect((await jane.get(PATH)).body.data.enabled).toBe(false)
    expect((await login(jane.email)).body.data.token).toBeDefined()
  })

  it('can be disabled with a backup code', async () => {
    const jane = await enrolled('backup')
    const two_factor_code = jane.backupCodes[3]
    expect((await jane.delete(PATH, { two_factor_code })).status).toBe(200)
  })

  it('is deleted with its mailbox', async () => {
    const jane = await enrolled('gone')
    const owner = await app.key((await organizationOf(jane.accountId)) ?? '')
    await owner.delete(`/api/v1/mailboxes/email-accounts/${jane.accountId}`)
    const rows = await app.core.db
      .selectFrom('totp_enrollments')
      .select('kind')
      .where('subject_id', '=', jane.accountId)
      .execute()
    expect(rows).toEqual([])
    expect((await jane.get(PATH)).status).toBe(401)
  })

  it('is throttled after three wrong codes, at login as well', async () => {
    const jane = await enrolled('guessed')
    const client = { from: newIp() }
    const statuses: number[] = []
    for (let guess = 0; guess < 4; guess++) {
      statuses.push((await jane.delete(PATH, { two_factor_code: 'WRONGONE' }, client)).status)
    }
    expect(statuses).toEqual([400, 400, 400, 429])
    expect((await login(jane.email, app.code(jane.secret))).status).toBe(429)
    expect((await jane.get(PATH)).body.data.enabled).toBe(true)
  })
})

const organizationOf = async (accountId: string) =>
  (
    await app.core.db
      .selectFrom('email_accounts')
      .select('organization_id')
      .where('id', '=', accountId)
      .executeTakeFirst()
  )?.organization_id
