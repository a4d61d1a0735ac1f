import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { type PolicyRequest, startAuthPolicy, startPolicy } from '../support/policy-servers.ts'
import { message } from '../support/smtp-client.ts'

describe.skipIf(edgeMissing)(`policy requests of the mail servers${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let login: { username: string; secret: string }
  const answers = { rate: 'DUNNO', access: 'DUNNO', login: true }
  let rate: Awaited<ReturnType<typeof startPolicy>>
  let access: typeof rate
  let auth: Awaited<ReturnType<typeof startAuthPolicy>>
  beforeAll(async () => {
    rate = await startPolicy(() => answers.rate)
    access = await startPolicy(() => answers.access)
    auth = await startAuthPolicy(() => answers.login)
    host = await startMailHost({
      env: {
        EDGE_RATE_POLICY_PORT: String(rate.port),
        EDGE_ACCESS_POLICY_PORT: String(access.port),
        EDGE_AUTH_POLICY_PORT: String(auth.port),
      },
    })
    acme = await host.app.tenant('acme')
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: acme.domainId })
    login = made.body.data
  })
  afterAll(async () => {
    await host?.stop()
    for (const server of [rate, access, auth]) await server?.stop()
  })

  async function send(to: string[]) {
    const client = await host.submission()
    await client.auth(login.username, login.secret)
    const from = `app@${acme.domain}`
    const reply = await client.send({ from, to, text: message(from, to[0] ?? '', 'policy') })
    client.quit()
    return reply
  }

  it('request a rate decision once per message, with its login and its recipients', async () => {
    rate.requests.length = 0
    access.requests.length = 0
    expect((await send(['a@outside.test', 'b@outside.test', acme.email])).code).toBe(250)
    expect(rate.requests).toMatchObject([
      {
        protocol_state: 'END-OF-MESSAGE',
        sasl_username: login.username,
        sender: `app@${acme.domain}`,
        recipient_count: '3',
      },
    ])
    expect(
      access.requests.map((one: PolicyRequest) => [one.protocol_state, one.recipient]),
    ).toEqual([
      ['RCPT', 'a@outside.test'],
      ['RCPT', 'b@outside.test'],
      ['RCPT', acme.email],
    ])
    expect(access.requests[0]).toMatchObject({
      client_address: '127.0.0.1',
      sasl_username: login.username,
    })
  })

  it('request an access decision for recipients of inbound mail, marked as inbound', async () => {
    rate.requests.length = 0
    access.requests.length = 0
    expect((await host.receive(acme.email, 'inbound')).code).toBe(250)
    expect(rate.requests).toEqual([])
    expect(access.requests).toMatchObject([
      { protocol_state: 'RCPT', recipient: acme.email, sasl_username: '', policy_context: 'mx' },
    ])
    // An unknown recipient is rejected without a policy request.
    expect((await host.receive(`nobody@${acme.domain}`, 'inbound')).code).toBe(550)
    expect(access.requests).toHaveLength(1)
  })

  it('are obeyed: mail is deferred or rejected with the given text', async () => {
    answers.rate = 'DEFER_IF_PERMIT 4.7.1 too much for now'
    expect((await send([acme.email])).text).toMatch(/^450 4\.7\.1 .*too much for now/)
    answers.rate = 'DUNNO'
    answers.access = 'REJECT 5.7.1 not from here'
    expect((await send([acme.email])).text).toMatch(/^554 5\.7\.1 .*not from here/)
    answers.access = 'DUNNO'
    expect((await send([acme.email])).code).toBe(250)
  })

  it('are sent for every login, cached or not, and report its result', async () => {
    expect(await host.authCode(login.username, login.secret)).toBe(235)
    auth.requests.length = 0
    answers.login = false
    expect(await host.authCode(login.username, login.secret)).toBe(535)
    answers.login = true
    expect(auth.requests.find(({ command }) => command === 'allow')).toMatchObject({
      key: expect.stringMatching(/^[0-9a-f]{64}$/),
      body: { login: login.username, remote: '127.0.0.1', protocol: 'smtp' },
    })
    const reports = () =>
      auth.requests.filter(({ command }) => command === 'report').map(({ body }) => body)
    await expect
      .poll(reports)
      .toContainEqual(expect.objectContaining({ success: false, policy_reject: true }))
    expect(await host.authCode(login.username, 'wrong')).toBe(535)
    await expect
      .poll(reports)
      .toContainEqual(expect.objectContaining({ success: false, policy_reject: false }))
  })

  it('are ignored while the policy servers are down: mail passes', async () => {
    for (const server of [rate, access, auth]) await server.stop()
    expect((await send([acme.email])).code).toBe(250)
  })
})
