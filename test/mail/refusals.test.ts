import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lift, suppress } from '../../src/hosting/suppressions.repository.ts'
import { ulid } from '../../src/lib/ulid.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

describe.skipIf(edgeMissing)(`refused recipients and senders${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let login: { username: string; secret: string }
  const FROM = 'app@acme.test'
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: acme.domainId })
    login = made.body.data
  })
  afterAll(() => host.stop())

  const change = async (isSuppressed: boolean, email: string) => {
    const { core, limiter, clock } = host.app
    const { organizationId: organization_id } = acme
    await core.db.transaction().execute(async (tx) => {
      const row = { email, organization_id, reason: null, source: null }
      if (isSuppressed) await suppress(tx, 'MANUAL', [row], clock.now())
      else await lift(tx, email, organization_id, clock.now())
    })
    await limiter.settled()
  }
  const loggedIn = async () => {
    const client = await host.submission()
    await client.auth(login.username, login.secret)
    return client
  }
  const counted = async () => {
    const { body } = await acme.get(`/api/v1/rate-limiter/rate-limits/domain/${acme.domain}`)
    return body.data.usage.hourly_count as number
  }

  it('only the suppressed one of several recipients is refused, as soon as it is suppressed', async () => {
    await change(true, 'gone@outside.test')
    const client = await loggedIn()
    await client.say(`MAIL FROM:<${FROM}>`)
    expect((await client.say('RCPT TO:<one@outside.test>')).code).toBe(250)
    const refused = await client.say('RCPT TO:<gone@outside.test>')
    expect(refused.text).toMatch(/^554 5\.7\.1 <gone@outside\.test>: .*the address is suppressed/)
    expect((await client.say('RCPT TO:<two@outside.test>')).code).toBe(250)
    expect((await client.say('DATA')).code).toBe(354)
    const text = message(FROM, 'one@outside.test', 'some').replaceAll('\n', '\r\n')
    expect((await client.say(`${text}\r\n.`)).code).toBe(250)
    await waitFor(() => host.sink.to('one@outside.test')[0] && host.sink.to('two@outside.test')[0])
    expect(host.sink.to('gone@outside.test')).toEqual([])

    await change(false, 'gone@outside.test')
    const to = 'gone@outside.test'
    expect((await client.send({ from: FROM, to, text: message(FROM, to, 'back') })).code).toBe(250)
    client.quit()
    await waitFor(() => host.sink.to(to)[0])
  })

  it('B4.5: refusals of a login are attributed to its credential', async () => {
    const made = await acme.post('/api/v1/smtp-credentials/', {
      domain_id: acme.domainId,
      hourly_limit: 1,
    })
    const { id, username, secret } = made.body.data
    const client = await host.submission()
    await client.auth(username, secret)
    const send = (from: string, to: string) =>
      client.send({ from, to, text: message(from, to, 'x') })
    expect((await send(FROM, 'first@outside.test')).code).toBe(250)
    expect((await send(FROM, 'second@outside.test')).code).toBe(450)
    await client.say('RSET')
    expect((await send(globex.email, 'third@outside.test')).text).toMatch(/^553 .*not owned by/)
    await client.say('RSET')
    await change(true, 'gone@outside.test')
    expect((await send(FROM, 'gone@outside.test')).code).toBe(554)
    client.quit()
    const path = `/api/v1/smtp-credentials/${id}/usage`
    const usage = await waitFor(async () => {
      const { data } = (await acme.get(path)).body
      return data.total >= 4 && data
    })
    expect(usage).toMatchObject({ delivered: 1, deferred: 1, rejected: 2 })
    await change(false, 'gone@outside.test')
  })

  it('internal services are refused too, and may not send for a domain that is not hosted here', async () => {
    await change(true, 'no@outside.test')
    const client = await openSmtp({ port: host.ports.internal })
    const to = 'yes@outside.test'
    expect((await client.send({ from: FROM, to, text: message(FROM, to, 'x') })).code).toBe(250)
    await client.say(`MAIL FROM:<${FROM}>`)
    expect((await client.say('RCPT TO:<no@outside.test>')).text).toMatch(
      /^554 5\.7\.1 .*suppressed/,
    )
    await client.say('RSET')
    await client.say('MAIL FROM:<x@elsewhere.test>')
    expect((await client.say(`RCPT TO:<${to}>`)).text).toMatch(/^554 5\.7\.1 .*hosted here/)
    client.quit()
  })

  it('a blocked sender is refused only for the organization that blocked it', async () => {
    const { db } = host.app.core
    const sender = 'somebody@elsewhere.test'
    const { organizationId: organization_id } = acme
    expect((await host.receive(acme.email, 'before')).code).toBe(250)
    const block = { id: ulid(), organization_id, sender, reason: 'spam', created_by: 'test' }
    await db.insertInto('blocked_senders').values(block).execute()
    await host.app.limiter.settled()
    expect((await host.receive(acme.email, 'blocked')).text).toMatch(/^554 5\.7\.1 .*no mail from/)
    expect((await host.receive(globex.email, 'not blocked')).code).toBe(250)
    await db.deleteFrom('blocked_senders').execute()
    await host.app.limiter.settled()
    expect((await host.receive(acme.email, 'unblocked')).code).toBe(250)
  })

  it('each message is counted once although it passes two policy checks', async () => {
    const before = await counted()
    const client = await loggedIn()
    for (const to of ['c1@outside.test', 'c2@outside.test']) {
      expect((await client.send({ from: FROM, to, text: message(FROM, to, 'c') })).code).toBe(250)
      await waitFor(() => host.sink.to(to)[0])
    }
    client.quit()
    expect(await counted()).toBe(before + 2)
  })
})
