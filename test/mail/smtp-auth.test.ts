import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { openImap } from '../support/imap-client.ts'
import { openLines } from '../support/line-socket.ts'
import { message, openSmtp } from '../support/smtp-client.ts'

const PATH = '/api/v1/smtp-credentials/'
const MINUTE = 60_000

describe.skipIf(edgeMissing)(`a login over SMTP${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
  })
  afterAll(() => host.stop())

  const create = async (more: object = {}) => {
    const made = await acme.post(PATH, { domain_id: acme.domainId, ...more })
    expect(made.status).toBe(201)
    return made.body.data as { id: string; username: string; secret: string }
  }

  it('is not offered before the connection is encrypted, nor on port 25', async () => {
    const submission = await openSmtp({ port: host.ports.submission })
    expect(submission.offers.join(' ')).not.toContain('AUTH')
    expect((await submission.auth('somebody', 'secret')).code).toBeGreaterThanOrEqual(500)
    submission.quit()
    const mx = await openSmtp({ port: host.ports.smtp })
    await mx.startTls()
    expect(mx.offers.join(' ')).not.toContain('AUTH')
    mx.quit()
  })

  it('is refused with a wrong secret, an empty one, and for a name nobody has', async () => {
    const { username, secret } = await create()
    expect(await host.authCode(username, `${secret}x`)).toBe(535)
    expect(await host.authCode(username, '')).toBeGreaterThanOrEqual(500)
    expect(await host.authCode('nobody-here', secret)).toBe(535)
    expect(await host.authCode(username, secret)).toBe(235)
  })

  it('ends at the next one after a revocation, although it was remembered, and works again', async () => {
    const { id, username, secret } = await create()
    expect(await host.authCode(username, secret)).toBe(235)
    const revoked = await acme.post(`${PATH}${id}/revoke`)
    expect(revoked.body.data).toMatchObject({ active: false, cache_flushed: true })
    expect(await host.authCode(username, secret)).toBe(535)
    await acme.post(`${PATH}${id}/enable`)
    expect(await host.authCode(username, secret)).toBe(235)
    await acme.delete(`${PATH}${id}`)
    expect(await host.authCode(username, secret)).toBe(535)
  })

  it('takes the new secret after a rotation, and no longer the old one', async () => {
    const { id, username, secret } = await create()
    expect(await host.authCode(username, secret)).toBe(235)
    const { body } = await acme.post(`${PATH}${id}/rotate`)
    expect(await host.authCode(username, secret)).toBe(535)
    expect(await host.authCode(username, body.data.secret)).toBe(235)
  })

  it('is bound to its networks, and a change of them holds at once', async () => {
    const listed = { allowed_ips: ['127.0.0.2', '2001:db8::/32'], ip_allowlist_enabled: true }
    const { id, username, secret } = await create(listed)
    expect(await host.authCode(username, secret, '127.0.0.1')).toBe(535)
    expect(await host.authCode(username, secret, '127.0.0.2')).toBe(235)
    // What was remembered for one address does not serve another.
    expect(await host.authCode(username, secret, '127.0.0.3')).toBe(535)
    await acme.patch(`${PATH}${id}`, { allowed_ips: ['127.0.0.5/30'] })
    expect(await host.authCode(username, secret, '127.0.0.2')).toBe(535)
    expect(await host.authCode(username, secret, '127.0.0.6')).toBe(235)
  })

  it('ends with the credential, also when it was remembered', async () => {
    const soon = new Date(Date.now() + 2500).toISOString()
    const { username, secret } = await create({ expires_at: soon })
    expect(await host.authCode(username, secret)).toBe(235)
    await expect
      .poll(() => host.authCode(username, secret), { timeout: 15_000, interval: 250 })
      .toBe(535)
    expect(Date.now()).toBeGreaterThanOrEqual(new Date(soon).getTime())
    const later = new Date(Date.now() + MINUTE).toISOString()
    const other = await create({ expires_at: later })
    expect(await host.authCode(other.username, other.secret)).toBe(235)
  })

  it('is refused while the domain or the organization is turned off', async () => {
    const tenant = await host.app.tenant('offline')
    const made = await tenant.post(PATH, { domain_id: tenant.domainId })
    const { username, secret } = made.body.data
    const imap = async () => {
      const client = await openImap({ port: host.ports.imaps })
      const { ok } = await client.login(tenant.email, PASSWORD)
      client.end()
      return ok
    }
    expect([await host.authCode(username, secret), await imap()]).toEqual([235, true])
    await tenant.put(`/api/v1/domains/${tenant.domainId}`, { active: false })
    expect([await host.authCode(username, secret), await imap()]).toEqual([535, false])
    await tenant.put(`/api/v1/domains/${tenant.domainId}`, { active: true })
    expect([await host.authCode(username, secret), await imap()]).toEqual([235, true])
    const admin = await host.app.operator('admin')
    const organization = `/api/v1/organizations/${tenant.organizationId}`
    expect((await admin.put(organization, { active: false })).status).toBe(200)
    expect([await host.authCode(username, secret), await imap()]).toEqual([535, false])
  })

  it('of a credential opens no mailbox, and one of a mailbox sends as that mailbox alone', async () => {
    const { username, secret } = await create()
    const imap = await openImap({ port: host.ports.imaps })
    expect((await imap.login(username, secret)).ok).toBe(false)
    imap.end()
    const pop = await openLines({ port: host.ports.pop3s, tls: true })
    await pop.line()
    pop.send(`USER ${username}\r\n`)
    await pop.line()
    pop.send(`PASS ${secret}\r\n`)
    expect(await pop.line()).toMatch(/^-ERR/)
    pop.end()

    const client = await host.submission()
    expect((await client.auth(acme.email, PASSWORD)).code).toBe(235)
    const to = `x@outside.test`
    const other = await client.send({ from: `other@${acme.domain}`, to, text: 'x' })
    expect(other.text).toMatch(/^553 5\.7\.1 .*not owned/)
    await client.say('RSET')
    const text = message(acme.email, to, 'from a mailbox')
    expect((await client.send({ from: acme.email, to, text })).code).toBe(250)
    client.quit()
  })

  it('with the master login sends nothing, and opens no mailbox without naming one', async () => {
    const { IMAP_MASTER_USER: master = '', IMAP_MASTER_PASSWORD: password = '' } =
      host.edge.environment
    for (const user of [master, `${acme.email}*${master}`]) {
      expect(await host.authCode(user, password)).toBe(535)
    }
    for (const user of [master, `nobody@nowhere.test*${master}`, `${acme.email}*${acme.email}`]) {
      const imap = await openImap({ port: host.ports.imaps })
      expect((await imap.login(user, password)).ok).toBe(false)
      imap.end()
    }
  })

  it('sends as any address of its domain, and of no other', async () => {
    const { username, secret } = await create()
    const client = await host.submission()
    await client.auth(username, secret)
    for (const from of [globex.email, `x@nowhere.test`, '', 'no-domain']) {
      const reply = await client.send({ from, to: acme.email, text: 'x' })
      expect(reply.code, from).toBeGreaterThanOrEqual(500)
      await client.say('RSET')
    }
    const from = `any.thing@${acme.domain}`
    const text = message(from, acme.email, 'any address')
    expect((await client.send({ from, to: acme.email, text })).code).toBe(250)
    client.quit()
    await host.arrived(acme.email, 'any address')
  })

  it('sends nothing without one', async () => {
    const client = await host.submission()
    const reply = await client.send({ from: acme.email, to: 'x@outside.test', text: 'x' })
    expect(reply.code).toBeGreaterThanOrEqual(500)
    client.quit()
  })

  it.each([
    ['equals signs', 'a=b==c=user=admin1'],
    ['quotes and braces', `it's "1" {2+} \\ $$ %u %%`],
    ['text that looks like SQL', `'; drop table email_accounts; --1`],
    ['blanks at the ends', '  twelve chars 1 '],
    ['letters of many kinds', 'pässwörd-密码-🔑-1234'],
  ])('takes a secret with %s', async (_what, password) => {
    const { username } = await create({ password })
    expect(await host.authCode(username, `${password}x`)).toBe(535)
    expect(await host.authCode(username, password)).toBe(235)
  })

  it.each([
    ['a tab', 'user\tname'],
    ['a line break', 'user\nname'],
    ['an equals sign', 'user=name'],
    ['a quote', "user'name"],
    ['a backslash', 'user\\name'],
    ['bytes that are no text', 'user\u{ff}name'],
    ['a thousand letters', 'u'.repeat(1024)],
  ])('is refused, and nothing breaks, for a name with %s', async (_what, name) => {
    const { username, secret } = await create()
    expect(await host.authCode(name, secret)).toBe(535)
    expect(await host.authCode(username, `x\t${secret}`)).toBe(535)
    expect(await host.authCode(username, `${secret}\tuser=${username}`)).toBe(535)
    expect(await host.authCode(username, 'p'.repeat(1024))).toBe(535)
    expect(await host.authCode(username, secret)).toBe(235)
  })
})
