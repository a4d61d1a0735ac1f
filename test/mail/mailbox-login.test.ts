import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newIp, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { waitFor } from '../support/wait.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'

describe.skipIf(edgeMissing)(`the login of a mailbox holder${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
  })
  afterAll(() => host.stop())

  const login = (email_address: string, password: string) =>
    host.app.send('POST', '/api/v1/mailbox-auth/login', {
      body: { email_address, password },
      from: newIp(),
    })
  const imap = async (email: string, password: string) => {
    const client = await openImap({ port: host.ports.imaps })
    const { ok } = await client.login(email, password)
    client.end()
    return ok
  }

  it('uses the Dovecot of the private edge without any setting', async () => {
    expect((await login(acme.email, 'wrong')).status).toBe(401)
    expect((await login(`nobody@${acme.domain}`, PASSWORD)).status).toBe(401)
    expect((await login(acme.email, PASSWORD)).status).toBe(200)
  })

  it('passes the client IP address to Dovecot, so that failures are not counted for the control plane', async () => {
    const from = newIp()
    const body = { email_address: acme.email, password: 'wrong' }
    await host.app.send('POST', '/api/v1/mailbox-auth/login', { body, from })
    await waitFor(() => host.log('dovecot').includes(`rip=${from}`))
  })

  it.each([
    ['equals', 'a=b==c=user=admin1'],
    ['quotes', `it's "1" {2+} \\ $$ %u %%`],
    ['sql', `'; drop table email_accounts; --1`],
    ['blanks', '  twelve chars 1 '],
    ['unicode', 'pässwörd-密码-🔑-1234'],
    ['many', 'Ab1='.repeat(256)],
  ])('accepts the stored password over IMAP, SMTP and the API: %s', async (name, password) => {
    const email = `${name}@${acme.domain}`
    expect((await acme.post(ACCOUNTS, { email, password })).status).toBe(201)
    expect(await imap(email, `${password}x`)).toBe(false)
    expect(await imap(email, password)).toBe(true)
    expect(await host.authCode(email, password)).toBe(235)
    expect((await login(email, `${password.slice(0, -1)}`)).status).toBe(401)
    expect((await login(email, password)).status).toBe(200)
  })

  it('accepts a new password at once and no longer the old one', async () => {
    const email = `changed@${acme.domain}`
    const made = await acme.post(ACCOUNTS, { email, password: PASSWORD })
    expect(await imap(email, PASSWORD)).toBe(true)
    const next = 'another-passphrase-77'
    const changed = await acme.put(`${ACCOUNTS}/${made.body.data.id}`, { password: next })
    expect(changed.status).toBe(200)
    expect([await imap(email, PASSWORD), await imap(email, next)]).toEqual([false, true])
  })

  it('responds with 503 while Dovecot is down and recovers by itself', async () => {
    await host.down()
    expect(await login(acme.email, PASSWORD)).toMatchObject({
      status: 503,
      body: { error: 'Mail server unavailable' },
    })
    await host.up()
    expect((await login(acme.email, PASSWORD)).status).toBe(200)
  })
})
