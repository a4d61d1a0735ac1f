import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn, openImap } from '../support/imap-client.ts'
import { openLines } from '../support/line-socket.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'

describe.skipIf(edgeMissing)(`mail to this host${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
  })
  afterAll(() => host.stop())

  async function mailbox(name: string, more: object = {}) {
    const email = name.includes('@') ? name : `${name}@${acme.domain}`
    const made = await acme.post(ACCOUNTS, { email, password: PASSWORD, ...more })
    expect(made.status).toBe(201)
    return { email, path: `${ACCOUNTS}/${made.body.data.id}` }
  }

  const alias = async (source: string, destination: string) =>
    expect((await acme.post('/api/v1/aliases/add', { source, destination })).status).toBe(200)

  it('is rejected for an unknown address and for a domain that is not hosted here', async () => {
    expect((await host.receive(`nobody@${acme.domain}`, 'x')).text).toMatch(/^550 5\.1\.1 /)
    expect((await host.receive('somebody@nowhere.test', 'x')).text).toMatch(/^554 5\.7\.1 .*Relay/)
    expect((await host.receive(`o'x"; --@${acme.domain}`, 'x')).code).toBeGreaterThanOrEqual(500)
  })

  it('reaches a mailbox created through the API over SMTP and LMTP', async () => {
    const { email } = await mailbox('jane')
    expect((await host.receive(email.toUpperCase(), 'over smtp')).code).toBe(250)
    await host.arrived(email, 'over smtp')

    const lmtp = await openSmtp({ port: host.ports.lmtp, lmtp: true })
    const text = message('a@elsewhere.test', email, 'over lmtp')
    const unknown = await lmtp.send({ from: 'a@x.test', to: `no@${acme.domain}`, text })
    expect(unknown.code).toBe(550)
    await lmtp.say('RSET')
    expect((await lmtp.send({ from: 'a@elsewhere.test', to: email, text })).code).toBe(250)
    lmtp.quit()
    await host.arrived(email, 'over lmtp')
  })

  it('is tested by an operator, and the trace says that the test message arrived', async () => {
    const { email } = await mailbox('tested')
    const operator = await host.app.operator('operator')
    const { body } = await operator.post('/api/v1/platform/system-mail/test', { to: email })
    expect(body.data).toMatchObject({ to: email, sent: true })
    await host.arrived(email, 'Test of system mail')
    const query = new URLSearchParams({ message_id: body.data.message_id, recipient: email })
    await waitFor(async () => {
      const traced = await operator.get(`/api/v1/message-trace/trace?${query}`)
      return traced.body.data.some(({ status }: { status: string }) => status === 'delivered')
    })
  })

  it('reaches a new domain, also after an earlier rejection', async () => {
    expect((await host.receive('first@brand-new.test', 'x')).code).toBe(554)
    await host.app.hostedDomain(acme, { domain: 'brand-new.test' })
    const { email } = await mailbox('first@brand-new.test')
    expect((await host.receive(email, 'hello domain')).code).toBe(250)
    await host.arrived(email, 'hello domain')
  })

  it('is read over POP3 with the right password only', async () => {
    const { email } = await mailbox('popper')
    await host.receive(email, 'for pop')
    await host.arrived(email, 'for pop')
    const pop = await openLines({ port: host.ports.pop3s, tls: true })
    const say = (text: string) => {
      pop.send(`${text}\r\n`)
      return pop.line()
    }
    await pop.line()
    await say(`USER ${email}`)
    expect(await say('PASS wrong')).toMatch(/^-ERR/)
    await say(`USER ${email}`)
    expect(await say(`PASS ${PASSWORD}`)).toMatch(/^\+OK/)
    expect(await say('STAT')).toMatch(/^\+OK 1 \d+/)
    pop.end()
  })

  it('is read over IMAP with TLS with the right password only', async () => {
    const plain = await openLines({ port: host.ports.imap })
    expect(await plain.line()).toContain('STARTTLS')
    plain.end()
    const client = await openImap({ port: host.ports.imaps })
    expect((await client.login(acme.email, 'wrong')).status).toMatch(/^NO \[AUTHENTICATIONFAILED\]/)
    expect((await client.login(acme.email, PASSWORD)).ok).toBe(true)
    const folders = (await client.command('LIST "" "*"')).lines.join('\n')
    for (const name of ['INBOX', 'Junk', 'Sent', 'Drafts', 'Trash']) expect(folders).toContain(name)
    client.end()
  })

  it('to an alias reaches local and outside destinations, and is rejected while the alias is inactive', async () => {
    const one = await mailbox('one')
    await alias(`team@${acme.domain}`, `${one.email},${globex.email},far@outside.test`)
    expect((await host.receive(`team@${acme.domain}`, 'for the team')).code).toBe(250)
    await host.arrived(one.email, 'for the team')
    await host.arrived(globex.email, 'for the team')
    await waitFor(() => host.sink.to('far@outside.test')[0])
    const off = { items: [`team@${acme.domain}`], attr: { active: 0 } }
    expect((await acme.post('/api/v1/aliases/edit', off)).status).toBe(200)
    expect((await host.receive(`team@${acme.domain}`, 'x')).code).toBe(550)
  })

  it('to an unknown address goes to the catch-all, which gets no mail of existing mailboxes', async () => {
    await host.app.hostedDomain(acme, { domain: 'catching.test' })
    const rest = await mailbox('rest@catching.test')
    const own = await mailbox('own@catching.test')
    await alias('@catching.test', rest.email)
    await host.receive('whoever@catching.test', 'for whoever')
    await host.arrived(rest.email, 'for whoever')
    await host.receive(own.email, 'for one of them')
    await host.receive('own+detail@catching.test', 'with detail')
    await host.arrived(own.email, 'for one of them')
    await host.arrived(own.email, 'with detail')
    expect(await mailIn(host.ports.imaps, rest.email, PASSWORD)).toHaveLength(1)
  })

  it('to a plus address reaches the mailbox, unless a mailbox has that exact name', async () => {
    const plain = await mailbox('sales')
    const named = await mailbox('sales+eu')
    await host.receive(`sales+us@${acme.domain}`, 'us')
    await host.receive(named.email, 'eu')
    await host.arrived(plain.email, 'us')
    await host.arrived(named.email, 'eu')
    const lmtp = await openSmtp({ port: host.ports.lmtp, lmtp: true })
    for (const detail of ['uk', 'eu']) {
      const to = `sales+${detail}@${acme.domain}`
      const text = message('a@x.test', to, `lmtp ${detail}`)
      expect((await lmtp.send({ from: 'a@x.test', to, text })).code).toBe(250)
    }
    lmtp.quit()
    await host.arrived(plain.email, 'lmtp uk')
    await host.arrived(named.email, 'lmtp eu')
    expect(await mailIn(host.ports.imaps, plain.email, PASSWORD)).toHaveLength(2)
  })

  it('is rejected while the mailbox is suspended, and so are its logins', async () => {
    const { email, path } = await mailbox('moody')
    await host.receive(email, 'before')
    await host.arrived(email, 'before')
    await acme.put(path, { status: 'suspended' })
    expect((await host.receive(email, 'x')).code).toBe(550)
    const client = await openImap({ port: host.ports.imaps })
    expect((await client.login(email, PASSWORD)).ok).toBe(false)
    client.end()
    await acme.put(path, { status: 'active' })
    await host.receive(email, 'after')
    await host.arrived(email, 'after')
    await host.arrived(email, 'before')
  })

  it('in a deleted mailbox is not visible in a new mailbox with its address', async () => {
    const before = await mailbox('reused')
    await host.receive(before.email, 'private')
    await host.arrived(before.email, 'private')
    expect((await acme.delete(before.path)).status).toBe(200)
    expect((await host.receive(before.email, 'x')).code).toBe(550)
    await mailbox('reused')
    expect(await mailIn(host.ports.imaps, before.email, PASSWORD)).toEqual([])
  })

  it('is rejected when the mailbox is over quota, until the quota is raised', async () => {
    const { email, path } = await mailbox('tiny', { storage_quota: 20_000 })
    const body = `${'x'.repeat(70)}\n`.repeat(160)
    await host.receive(email, 'first', body)
    await host.arrived(email, 'first')
    const { rows } = await usageOf(email)
    expect(rows).toMatchObject([{ messages: 1 }])
    expect(Number(rows[0]?.bytes)).toBeGreaterThan(11_000)

    const lmtp = await openSmtp({ port: host.ports.lmtp, lmtp: true })
    const text = message('a@x.test', email, 'too much', body)
    expect((await lmtp.send({ from: 'a@x.test', to: email, text })).text).toMatch(/^552 5\.2\.2 /)
    lmtp.quit()
    const declared = await openSmtp({ port: host.ports.smtp })
    await declared.say('MAIL FROM:<a@x.test> SIZE=15000')
    expect((await declared.say(`RCPT TO:<${email}>`)).text).toMatch(/5\.2\.2 .*full/)
    declared.quit()

    expect((await acme.put(path, { storage_quota: 100_000 })).status).toBe(200)
    await host.receive(email, 'second', body)
    await host.arrived(email, 'second')
  })

  const usageOf = (email: string) =>
    waitFor(async () => {
      const found = await sql<{ bytes: string; messages: number }>`
        select bytes, messages from edge.quota_usage where username = ${email}`.execute(
        host.app.core.db,
      )
      return found.rows.length > 0 && found
    })

  it('is logged in UTC with a unique id and its subject', async () => {
    await host.receive(acme.email, 'a subject to find')
    await host.arrived(acme.email, 'a subject to find')
    const line = await waitFor(() =>
      host
        .log('mail')
        .split('\n')
        .find((text) => text.includes('info: header Subject: a subject to find')),
    )
    const [, month, day, hour, minute] = /^(\w+) +(\d+) (\d+):(\d+)/.exec(line) ?? []
    const now = new Date()
    expect(`${month} ${day}`).toBe(
      `${now.toLocaleString('en', { month: 'short', timeZone: 'UTC' })} ${now.getUTCDate()}`,
    )
    const minutes = Number(hour) * 60 + Number(minute)
    expect(Math.abs(now.getUTCHours() * 60 + now.getUTCMinutes() - minutes)).toBeLessThan(5)
    expect(line).toMatch(/postfix\/cleanup\[\d+\]: [0-9A-Za-z]{14,}: info/)
  })
})
