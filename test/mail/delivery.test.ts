import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'

describe.skipIf(edgeMissing)(`mail to this host${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
  })
  afterAll(() => host.stop())

  it('is refused for an address that is not there', async () => {
    expect((await host.receive(`nobody@${acme.domain}`, 'x')).text).toMatch(/^550 5\.1\.1 /)
    expect((await host.receive('somebody@nowhere.test', 'x')).text).toMatch(/^554 5\.7\.1 .*Relay/)
  })

  it('for a mailbox made over the API arrives over SMTP and over LMTP', async () => {
    const email = `jane@${acme.domain}`
    const made = await acme.post('/api/v1/mailboxes/email-accounts', { email, password: PASSWORD })
    expect(made.status).toBe(201)
    expect((await host.receive(email, 'over smtp')).code).toBe(250)
    await host.arrived(email, 'over smtp')

    const lmtp = await openSmtp({ port: host.ports.lmtp, lmtp: true })
    const text = message('a@elsewhere.test', email, 'over lmtp')
    expect((await lmtp.send({ from: 'a@elsewhere.test', to: email, text })).code).toBe(250)
    lmtp.quit()
    await host.arrived(email, 'over lmtp')
  })

  it('is read by nobody with a wrong password', async () => {
    const client = await openImap({ port: host.ports.imaps })
    expect((await client.login(acme.email, 'wrong')).status).toMatch(/^NO \[AUTHENTICATIONFAILED\]/)
    client.end()
  })
})
