import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAddress, PASSWORD } from '../support/app.ts'
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
      from: newAddress(),
    })
  const imap = async (email: string, password: string) => {
    const client = await openImap({ port: host.ports.imaps })
    const { ok } = await client.login(email, password)
    client.end()
    return ok
  }

  it('asks the Dovecot of the private edge, with no setting at all', async () => {
    expect((await login(acme.email, 'wrong')).status).toBe(401)
    expect((await login(`nobody@${acme.domain}`, PASSWORD)).status).toBe(401)
    expect((await login(acme.email, PASSWORD)).status).toBe(200)
  })

  it("is the client's, also to Dovecot: its failures are not held against the control plane", async () => {
    const from = newAddress()
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
  ])('takes the password that was set, by every way: %s', async (name, password) => {
    const email = `${name}@${acme.domain}`
    expect((await acme.post(ACCOUNTS, { email, password })).status).toBe(201)
    expect(await imap(email, `${password}x`)).toBe(false)
    expect(await imap(email, password)).toBe(true)
    expect(await host.authCode(email, password)).toBe(235)
    expect((await login(email, `${password.slice(0, -1)}`)).status).toBe(401)
    expect((await login(email, password)).status).toBe(200)
  })

  it('takes a new password at once, and the old one no more', async () => {
    const email = `changed@${acme.domain}`
    const made = await acme.post(ACCOUNTS, { email, password: PASSWORD })
    expect(await imap(email, PASSWORD)).toBe(true)
    const next = 'another-passphrase-77'
    const changed = await acme.put(`${ACCOUNTS}/${made.body.data.id}`, { password: next })
    expect(changed.status).toBe(200)
    expect([await imap(email, PASSWORD), await imap(email, next)]).toEqual([false, true])
  })

  it('is 503 while Dovecot is away, and works again by itself', async () => {
    await host.down()
    expect(await login(acme.email, PASSWORD)).toMatchObject({
      status: 503,
      body: { error: 'Mail server unavailable' },
    })
    await host.up()
    expect((await login(acme.email, PASSWORD)).status).toBe(200)
  })
})
