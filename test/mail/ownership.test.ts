import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { signatureOf } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`a domain whose ownership is not proven (S1)${skipped}`, () => {
  const NAME = 'claimed.example'
  let host: MailHost
  let evil: Awaited<ReturnType<MailHost['app']['tenant']>>
  let acme: typeof evil
  let domainId: string
  let credential: { username: string; secret: string }
  let sender: { username: string; secret: string }
  beforeAll(async () => {
    host = await startMailHost()
    evil = await host.app.tenant('evil')
    acme = await host.app.tenant('acme')
    const made = await evil.post('/api/v1/domains/', { domain: NAME })
    domainId = made.body.data.id
    const mailbox = { email: `ann@${NAME}`, password: PASSWORD }
    expect((await evil.post('/api/v1/mailboxes/email-accounts', mailbox)).status).toBe(201)
    const catchAll = { source: `@${NAME}`, destination: evil.email }
    expect((await evil.post('/api/v1/aliases/add', catchAll)).status).toBe(200)
    credential = await loginOf(evil, domainId)
    sender = await loginOf(acme, acme.domainId)
  })
  afterAll(() => host.stop())

  const loginOf = async (tenant: typeof evil, domain_id: string) =>
    (await tenant.post('/api/v1/smtp-credentials/', { domain_id })).body.data

  /** Sends a message over submission and returns the code of the reply. */
  async function submit(login: { username: string; secret: string }, from: string, to: string) {
    const client = await host.submission()
    try {
      await client.auth(login.username, login.secret)
      return (await client.send({ from, to, text: message(from, to, `to ${to}`) })).code
    } finally {
      client.quit()
    }
  }

  it('gets no mail from outside', async () => {
    expect((await host.receive(`ann@${NAME}`, 'from outside')).code).toBe(554)
  })

  it('gets no mail of other tenants, which goes where DNS says', async () => {
    const to = `secret@${NAME}`
    expect(await submit(sender, `app@${acme.domain}`, to)).toBe(250)
    await waitFor(() => host.sink.to(to)[0])
  })

  it('has no logins', async () => {
    expect(await host.authCode(`ann@${NAME}`, PASSWORD)).toBe(535)
    expect(await host.authCode(credential.username, credential.secret)).toBe(535)
  })

  it('cannot be the sender of its own tenant', async () => {
    const own = await loginOf(evil, evil.domainId)
    expect(await submit(own, `ceo@${NAME}`, 'x@outside.test')).toBe(553)
  })

  it('receives, sends and signs from its proof on, without a restart', async () => {
    await host.app.prove(domainId)
    expect((await host.receive(`ann@${NAME}`, 'after the proof')).code).toBe(250)
    await host.arrived(`ann@${NAME}`, 'after the proof')
    expect(await host.authCode(credential.username, credential.secret)).toBe(235)
    let count = 0
    await waitFor(async () => {
      const to = `signed-${++count}@outside.test`
      expect(await submit(credential, `app@${NAME}`, to)).toBe(250)
      return signatureOf((await waitFor(() => host.sink.to(to)[0])).data)
    })
  })
})
