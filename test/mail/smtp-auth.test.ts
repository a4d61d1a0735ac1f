import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DAY_MS } from '../../src/lib/time.ts'
import { newIp, PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { openLines } from '../support/line-socket.ts'
import { run } from '../support/process.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const PATH = '/api/v1/smtp-credentials/'

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

  /** Each login from an IP address of its own, because ten failures block one. */
  const authCode = (user: string, password: string) => host.authCode(user, password, newIp())

  const create = async (more: object = {}) => {
    const made = await acme.post(PATH, { domain_id: acme.domainId, ...more })
    expect(made.status).toBe(201)
    return made.body.data as { id: string; username: string; secret: string }
  }

  it('is not offered before encryption, nor on port 25', async () => {
    const submission = await openSmtp({ port: host.ports.submission })
    expect(submission.offers.join(' ')).not.toContain('AUTH')
    expect((await submission.auth('somebody', 'secret')).code).toBeGreaterThanOrEqual(500)
    submission.quit()
    const mx = await openSmtp({ port: host.ports.smtp })
    await mx.startTls()
    expect(mx.offers.join(' ')).not.toContain('AUTH')
    mx.quit()
  })

  it('is used for system mail, which a relay takes after a login only (B8)', async () => {
    const { username, secret } = await create()
    const test = (password: string) =>
      run(['system-mail', 'test', acme.email, '--json'], {
        DATABASE_URL: host.app.database.url,
        DATA_DIR: host.app.dataDir,
        SMTP_HOST: '127.0.0.1',
        SMTP_PORT: String(host.ports.submission),
        SMTP_USER: username,
        SMTP_PASSWORD: password,
        SMTP_TLS_VERIFY: 'false',
        ALERT_FROM_ADDRESS: acme.email,
      })
    const refused = await test('wrong')
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toMatch(/^mailplane: the mail was not sent: .*535/)
    const sent = await test(secret)
    expect(sent).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(sent.stdout)).toMatchObject({ to: acme.email, user: username, sent: true })
    await waitFor(async () => {
      const mails = await mailIn(host.ports.imaps, acme.email, PASSWORD)
      return mails.some((text) => text.includes('Subject: Test of system mail'))
    })
    const rows = await host.app.core.db
      .selectFrom('operator_audit')
      .select('request_body')
      .where('action', '=', 'test_system_mail')
      .orderBy('id')
      .execute()
    expect(rows.map(({ request_body }) => request_body)).toEqual([
      { to: acme.email, sent: false, source: 'command line' },
      { to: acme.email, sent: true, source: 'command line' },
    ])
  })

  it('is refused with a wrong secret, an empty secret and an unknown name', async () => {
    const { username, secret } = await create()
    expect(await authCode(username, `${secret}x`)).toBe(535)
    expect(await authCode(username, '')).toBeGreaterThanOrEqual(500)
    expect(await authCode('nobody-here', secret)).toBe(535)
    expect(await authCode(username, secret)).toBe(235)
  })

  it('is refused right after a revocation although it was cached, and works again once it is enabled', async () => {
    const { id, username, secret } = await create()
    expect(await authCode(username, secret)).toBe(235)
    const revoked = await acme.post(`${PATH}${id}/revoke`)
    expect(revoked.body.data).toMatchObject({ active: false, cache_flushed: true })
    expect(await authCode(username, secret)).toBe(535)
    await acme.post(`${PATH}${id}/enable`)
    expect(await authCode(username, secret)).toBe(235)
    await acme.delete(`${PATH}${id}`)
    expect(await authCode(username, secret)).toBe(535)
  })

  it('accepts the new secret after a rotation and no longer the old one', async () => {
    const { id, username, secret } = await create()
    expect(await authCode(username, secret)).toBe(235)
    const { body } = await acme.post(`${PATH}${id}/rotate`)
    expect(await authCode(username, secret)).toBe(535)
    expect(await authCode(username, body.data.secret)).toBe(235)
  })

  it('is limited to its networks, and a change applies at once', async () => {
    const listed = { allowed_ips: ['127.0.0.2', '2001:db8::/32'], ip_allowlist_enabled: true }
    const { id, username, secret } = await create(listed)
    expect(await host.authCode(username, secret, '127.0.0.1')).toBe(535)
    expect(await host.authCode(username, secret, '127.0.0.2')).toBe(235)
    // The cached login of one IP address is not used for another.
    expect(await host.authCode(username, secret, '127.0.0.3')).toBe(535)
    await acme.patch(`${PATH}${id}`, { allowed_ips: ['127.0.0.5/30'] })
    expect(await host.authCode(username, secret, '127.0.0.2')).toBe(535)
    expect(await host.authCode(username, secret, '127.0.0.6')).toBe(235)
  })

  it('is refused after the credential has expired, also when it was cached', async () => {
    const later = new Date(Date.now() + DAY_MS).toISOString()
    const ending = await create({ expires_at: later })
    const lasting = await create({ expires_at: later })
    const codes = async () => [
      await authCode(ending.username, ending.secret),
      await authCode(lasting.username, lasting.secret),
    ]
    expect(await codes()).toEqual([235, 235])
    // Its end comes without a request, which would flush the cache at once.
    await host.app.core.db
      .updateTable('smtp_credentials')
      .set({ expires_at: sql`now()` })
      .where('id', '=', ending.id)
      .execute()
    await waitFor(async () => (await codes()).join() === '535,235')
  })

  it('is refused while the domain or the organization is inactive', async () => {
    const tenant = await host.app.tenant('offline')
    const made = await tenant.post(PATH, { domain_id: tenant.domainId })
    const { username, secret } = made.body.data
    const imap = async () => {
      const client = await openImap({ port: host.ports.imaps })
      const { ok } = await client.login(tenant.email, PASSWORD)
      client.end()
      return ok
    }
    expect([await authCode(username, secret), await imap()]).toEqual([235, true])
    await tenant.put(`/api/v1/domains/${tenant.domainId}`, { active: false })
    expect([await authCode(username, secret), await imap()]).toEqual([535, false])
    await tenant.put(`/api/v1/domains/${tenant.domainId}`, { active: true })
    expect([await authCode(username, secret), await imap()]).toEqual([235, true])
    const admin = await host.app.operator('admin')
    const organization = `/api/v1/organizations/${tenant.organizationId}`
    expect((await admin.put(organization, { active: false })).status).toBe(200)
    expect([await authCode(username, secret), await imap()]).toEqual([535, false])
  })

  it('with a credential opens no mailbox, and with a mailbox sends as that mailbox only', async () => {
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

  it('with the master login sends nothing and opens no mailbox without naming one', async () => {
    const { IMAP_MASTER_USER: master = '', IMAP_MASTER_PASSWORD: password = '' } =
      host.edge.environment
    for (const user of [master, `${acme.email}*${master}`]) {
      expect(await authCode(user, password)).toBe(535)
    }
    for (const user of [master, `nobody@nowhere.test*${master}`, `${acme.email}*${acme.email}`]) {
      const imap = await openImap({ port: host.ports.imaps })
      // Dovecot closes the connection when the master names an unknown user.
      const isIn = await imap.login(user, password).then(
        ({ ok }) => ok,
        () => false,
      )
      expect(isIn, user).toBe(false)
      imap.end()
    }
  })

  it('sends as any address of its domain and of no other domain', async () => {
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

  it('is required to send', async () => {
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
  ])('accepts a secret with %s', async (_what, password) => {
    const { username } = await create({ password })
    expect(await authCode(username, `${password}x`)).toBe(535)
    expect(await authCode(username, password)).toBe(235)
  })

  it.each([
    ['a tab', 'user\tname'],
    ['a line break', 'user\nname'],
    ['an equals sign', 'user=name'],
    ['a quote', "user'name"],
    ['a backslash', 'user\\name'],
    ['bytes that are no text', 'user\u{ff}name'],
    ['a thousand letters', 'u'.repeat(1024)],
  ])('is refused without harm for a name with %s', async (_what, name) => {
    const { username, secret } = await create()
    expect(await authCode(name, secret)).toBe(535)
    expect(await authCode(username, `x\t${secret}`)).toBe(535)
    expect(await authCode(username, `${secret}\tuser=${username}`)).toBe(535)
    expect(await authCode(username, 'p'.repeat(1024))).toBe(535)
    expect(await authCode(username, secret)).toBe(235)
  })
})
