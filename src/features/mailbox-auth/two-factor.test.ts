import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, newIp, startApp } from '../../../test/support/app.ts'
import { type ImapServer, startImapServer } from '../../../test/support/imap-server.ts'

let app: App
let imap: ImapServer
beforeAll(async () => {
  imap = await startImapServer()
  app = await startApp({
    env: { IMAP_HOST: '127.0.0.1', IMAP_PORT: String(imap.port), IMAP_TLS: 'false' },
  })
})
afterAll(async () => {
  await app.stop()
  await imap.stop()
})

const STEP = 30_000
const WRONG = { status: 401, body: { msg: 'Invalid email or password' }, cookies: [] }
const login = (email_address: string, two_factor_code?: string, password = 'right') =>
  app.send('POST', '/api/v1/mailbox-auth/login', {
    body: { email_address, password, ...(two_factor_code !== undefined && { two_factor_code }) },
    from: newIp(),
  })
const failuresOf = async (email: string) =>
  (
    await app.core.db
      .selectFrom('failed_auth_attempts')
      .select('attempt_count')
      .where('username', '=', email)
      .execute()
  ).map(({ attempt_count }) => attempt_count)

/** Creates a mailbox with a confirmed second factor whose first code is no longer valid. */
async function enrolled(name: string) {
  const tenant = await app.tenant(name)
  imap.passwords.set(tenant.email, 'right')
  const { twoFactor } = app.core.access
  const holder = { kind: 'mailbox' as const, id: tenant.accountId }
  const enrollment = await twoFactor.begin(app.core.db, holder, tenant.email)
  const secret = enrollment?.secret as string
  await twoFactor.spend(app.core.db, holder, app.code(secret))
  app.clock.advance(2 * STEP)
  return { ...tenant, secret, backupCodes: enrollment?.backup_codes as string[] }
}

describe('a login to a mailbox with a second factor', () => {
  it('requires a code after the correct password and opens no session yet', async () => {
    const { email } = await enrolled('asked')
    const answer = await login(email)
    expect(answer).toMatchObject({ status: 200, cookies: [] })
    expect(answer.body.data).toEqual({ two_factor_required: true })
    const sessions = await app.core.db.selectFrom('sessions').select('id').execute()
    expect(sessions).toEqual([])
  })

  it('does not reveal the second factor without the correct password', async () => {
    const { email, secret } = await enrolled('hidden')
    expect(await login(email, undefined, 'wrong')).toMatchObject(WRONG)
    expect(await login(email, app.code(secret), 'wrong')).toMatchObject(WRONG)
    expect((await login(email, app.code(secret))).status).toBe(200)
  })

  it('accepts each code once', async () => {
    const { email, secret } = await enrolled('once')
    const code = app.code(secret)
    const answer = await login(email, code)
    expect(answer).toMatchObject({ status: 200, body: { msg: 'Signed in' } })
    expect(answer.cookies).toHaveLength(2)
    expect(answer.body.data).not.toHaveProperty('two_factor_required')
    expect(await login(email, code)).toMatchObject(WRONG)
  })

  it('accepts each recovery code once, in upper or lower case', async () => {
    const { email, backupCodes } = await enrolled('recovery')
    const [one = '', two = ''] = backupCodes
    expect((await login(email, one.toLowerCase())).status).toBe(200)
    expect((await login(email, two)).status).toBe(200)
    expect(await login(email, one)).toMatchObject(WRONG)
  })

  it('counts wrong codes, and a login without a code does not reset the count', async () => {
    const { email, secret } = await enrolled('counted')
    for (let failure = 1; failure <= 2; failure++) {
      expect(await login(email, '000000')).toMatchObject(WRONG)
      expect((await login(email)).body.data).toEqual({ two_factor_required: true })
      expect(await failuresOf(email)).toEqual([failure])
    }
    expect(await login(email, '000000')).toMatchObject(WRONG)
    expect((await login(email, app.code(secret))).status).toBe(429)
    app.clock.advance(15_000)
    expect((await login(email, app.code(secret))).status).toBe(200)
    expect(await failuresOf(email)).toEqual([])
  })

  it('accepts a code once when it is sent twice at the same time', async () => {
    const { email, secret } = await enrolled('racing')
    const code = app.code(secret)
    const answers = await Promise.all([login(email, code), login(email, code)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401])
  })

  it('rejects the codes of an operator with the same e-mail address', async () => {
    const { email } = await enrolled('namesake')
    const operator = await app.operator('support', email)
    app.clock.advance(2 * STEP)
    expect(await login(email, app.code(operator.secret))).toMatchObject(WRONG)
    expect(await login(email, operator.backupCodes[0])).toMatchObject(WRONG)
  })
})
