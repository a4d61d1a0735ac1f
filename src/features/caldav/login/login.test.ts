import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newIp, PASSWORD } from '../../../../test/support/app.ts'
import { startDav } from '../../../../test/support/dav.ts'

let dav: Awaited<ReturnType<typeof startDav>>
let count = 0
beforeAll(async () => {
  dav = await startDav()
})
afterAll(() => dav.stop())

const tenant = () => dav.app.tenant(`login${++count}`)
const ask = (email: string, password = PASSWORD, from = newIp()) =>
  dav.client(email, password).send('PROPFIND', '/dav/', { headers: { depth: '0' }, from })

describe('a login of a calendar program', () => {
  it('is asked for before the body is looked at', async () => {
    const answer = await dav.app.send('PROPFIND', '/dav/', { raw: 'no XML' })
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Basic realm="Mail account", charset="UTF-8"')
  })

  it('is accepted with the password of the mailbox and refused with another', async () => {
    const { email } = await tenant()
    expect(await ask(email)).toMatchObject({ status: 207 })
    expect(await ask(email.toUpperCase())).toMatchObject({ status: 207 })
    expect(await ask(email, 'wrong')).toMatchObject({ status: 401 })
  })

  it('with an unknown token is refused with 401', async () => {
    const headers = { authorization: 'Bearer abc', depth: '0' }
    expect(await dav.app.send('PROPFIND', '/dav/', { headers })).toMatchObject({ status: 401 })
  })

  it('with unknown tokens is refused with 429 after 200 of them, and with a password it is not', async () => {
    const from = newIp()
    const send = (token: string) =>
      dav.app.send('PROPFIND', '/dav/', {
        headers: { authorization: `Bearer ${token}`, depth: '0' },
        from,
      })
    for (let at = 0; at < 200; at++) expect(await send(`abc${at}`)).toMatchObject({ status: 401 })
    const answer = await send('abc')
    expect(answer.status).toBe(429)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    const { email } = await tenant()
    expect(await ask(email, PASSWORD, from)).toMatchObject({ status: 207 })
  })
})

describe('a login that was right ends', () => {
  const revoked = async (
    revoke: (acme: Awaited<ReturnType<typeof tenant>>) => Promise<unknown>,
  ) => {
    const acme = await tenant()
    expect(await ask(acme.email)).toMatchObject({ status: 207 })
    await revoke(acme)
    await dav.app.core.access.settled()
    return { answer: await ask(acme.email), acme }
  }

  it('when the mailbox is suspended', async () => {
    const { answer } = await revoked(({ accountId }) =>
      dav.app.core.db
        .updateTable('email_accounts')
        .set({ status: 'suspended' })
        .where('id', '=', accountId)
        .execute(),
    )
    expect(answer.status).toBe(401)
  })

  it('when the organization is suspended', async () => {
    const { answer } = await revoked(({ organizationId }) =>
      dav.app.core.db
        .updateTable('organizations')
        .set({ active: false })
        .where('id', '=', organizationId)
        .execute(),
    )
    expect(answer.status).toBe(401)
  })

  it('when the password changes', async () => {
    const { answer } = await revoked(async ({ accountId }) => {
      await dav.app.core.db
        .updateTable('email_accounts')
        .set({ password_hash: await dav.app.core.passwords.hash('a new passphrase') })
        .where('id', '=', accountId)
        .execute()
    })
    expect(answer.status).toBe(401)
  })

  it('when a second factor is set up; an app password for calendars works', async () => {
    const { twoFactor } = dav.app.core.access
    const { db } = dav.app.core
    const { answer, acme } = await revoked(async ({ email, accountId }) => {
      const holder = { kind: 'mailbox' as const, id: accountId }
      const { secret = '' } = (await twoFactor.begin(db, holder, email)) ?? {}
      await twoFactor.spend(db, holder, dav.app.code(secret))
    })
    expect(answer.status).toBe(401)
    expect(answer.text).toContain('needs an app password')
    const session = await dav.app.session('mailbox', acme.accountId)
    const passwordFor = async (scope: string): Promise<string> =>
      (await session.post('/api/v1/mailbox/app-passwords', { name: 'Phone', scopes: [scope] })).body
        .data.password
    expect(await ask(acme.email, await passwordFor('dav'))).toMatchObject({ status: 207 })
    expect(await ask(acme.email, await passwordFor('imap'))).toMatchObject({ status: 401 })
  })

  it('when an IP rule excludes the address of the program', async () => {
    const { answer } = await revoked(({ organizationId }) =>
      dav.app.core.db
        .insertInto('ip_access_rules')
        .values({
          id: `rule${++count}`,
          organization_id: organizationId,
          rule_type: 'whitelist',
          ip_address: '192.0.2.1',
        })
        .execute(),
    )
    expect(answer.status).toBe(403)
  })
})
