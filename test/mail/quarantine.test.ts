import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { signatureOf } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

// Test patterns of Rspamd, each with the action that it causes.
const pattern = (letter: string) =>
  `${letter}JS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X`
const REFUSED = pattern('X')
const MARKED = pattern('Y')
const HELD = pattern('Z')

describe.skipIf(edgeMissing)(`spam from outside${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let admin: Awaited<ReturnType<MailHost['app']['operator']>>
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    admin = await host.app.operator('admin')
  })
  afterAll(() => host.stop())

  const inbox = async (user: string) =>
    (await mailIn(host.ports.imaps, user, PASSWORD)).join('\r\n')
  const held = async (subject: string) => {
    const { body } = await admin.get('/api/v1/message-trace/quarantine')
    return body.data.messages.filter((one: { subject: string }) => one.subject === subject)
  }

  it('is rejected at once with the highest score', async () => {
    expect((await host.receive(acme.email, 'worst', REFUSED)).text).toMatch(/^554 5\.7\.1 /)
    expect(await held('worst')).toEqual([])
  })

  it('is marked with a medium score and filed into Junk (N7); forged headers are ignored', async () => {
    const mx = await openSmtp({ port: host.ports.smtp })
    const from = 'x@elsewhere.test'
    const forged = 'X-Spam: No\nX-Spam-Status: No, score=-100\nX-Spamd-Result: forged\n'
    const good = await mx.send({
      from,
      to: acme.email,
      text: forged + message(from, acme.email, 'good'),
    })
    const bad = await mx.send({
      from,
      to: acme.email,
      text: forged + message(from, acme.email, 'marked', MARKED),
    })
    mx.quit()
    expect([good.code, bad.code]).toEqual([250, 250])
    expect(await host.arrived(acme.email, 'good')).not.toMatch(/^X-Spam/im)
    const marked = await host.arrived(acme.email, 'marked', { folder: 'Junk' })
    expect(marked.match(/^X-Spam.*$/gim)).toEqual(['X-Spam: Yes'])
  })

  it('waits in quarantine and is delivered unchanged on release', async () => {
    const text = `${HELD}\nGr\u00fc\u00dfe\n.a dot`
    expect((await host.receive([acme.email, globex.email], 'held', text)).code).toBe(250)
    const rows = await held('held')
    expect(rows).toHaveLength(2)
    const row = rows.find((one: { recipient: string }) => one.recipient === acme.email)
    expect(row).toMatchObject({
      organization_id: acme.organizationId,
      sender: 'somebody@elsewhere.test',
      reason: 'spam',
      spam_score: 12,
      status: 'quarantined',
    })
    // A later message has arrived; this one has not.
    await host.receive(acme.email, 'after')
    await host.arrived(acme.email, 'after')
    expect(await inbox(acme.email)).not.toContain('Subject: held')

    const released = await admin.post(`/api/v1/message-trace/quarantine/${row.id}/release`, {
      reason: 'the recipient asked for it',
    })
    expect(released.body).toMatchObject({ data: { status: 'released' } })
    const delivered = await host.arrived(acme.email, 'held')
    expect(delivered).toContain(text.replaceAll('\n', '\r\n'))
    // The released message is not marked as spam.
    expect(delivered).not.toContain('X-Spam: Yes')
    expect(await inbox(globex.email)).not.toContain('Subject: held')
  })

  describe('B4.6: outgoing mail that is held', () => {
    const FROM = 'app@shop.test'
    let login: { username: string; secret: string }
    beforeAll(async () => {
      const { id } = await host.app.hostedDomain(acme, { domain: 'shop.test' })
      const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: id })
      login = made.body.data
      const rule = await acme.post('/api/v1/transport-rules/', {
        name: 'Check',
        direction: 'outbound',
        conditions: [{ field: 'subject', operator: 'contains', value: 'check' }],
        actions: [{ type: 'quarantine', params: {} }],
      })
      expect(rule.status).toBe(201)
      const refusal = await globex.post('/api/v1/transport-rules/', {
        name: 'No offers',
        direction: 'inbound',
        conditions: [{ field: 'subject', operator: 'contains', value: 'offer' }],
        actions: [{ type: 'reject', params: { message: 'no offers here' } }],
      })
      expect(refusal.status).toBe(201)
    })
    const submit = async (to: string, subject: string) => {
      const client = await host.submission()
      await client.auth(login.username, login.secret)
      const reply = await client.send({ from: FROM, to, text: message(FROM, to, subject) })
      client.quit()
      expect(reply.code).toBe(250)
      const [row] = await held(subject)
      return row as { id: string; login: string }
    }
    const release = (id: string) =>
      admin.post(`/api/v1/message-trace/quarantine/${id}/release`, {
        reason: 'checked by an operator',
      })

    it('is signed like other mail of the sender when it is released', async () => {
      const row = await submit('friend@outside.test', 'check this')
      expect(row.login).toBe(login.username)
      // The key reaches Rspamd a moment after the domain is hosted.
      await waitFor(async () => {
        await submit('plain@outside.test', 'plain')
        const plain = await waitFor(() => host.sink.to('plain@outside.test').at(-1))
        return signatureOf(plain.data)
      })
      expect((await release(row.id)).status).toBe(200)
      const mail = await waitFor(() => host.sink.to('friend@outside.test')[0])
      expect(mail.data).toContain('Subject: check this')
      expect(signatureOf(mail.data)).toMatchObject({ domain: 'shop.test' })
    })

    it('passes the stages of the recipient on this host', async () => {
      const offer = await submit(globex.email, 'check this offer')
      const refused = await release(offer.id)
      expect(refused).toMatchObject({ status: 502 })
      expect(refused.text).toContain('no offers here')
      const letter = await submit(globex.email, 'check this letter')
      expect((await release(letter.id)).status).toBe(200)
      const arrived = await host.arrived(globex.email, 'check this letter')
      expect(arrived).not.toMatch(/mailplane-origin/i)
      expect(await inbox(globex.email)).not.toContain('check this offer')
    })
  })

  it('is deferred while Rspamd is down', async () => {
    const pid = host.pids().Rspamd as number
    process.kill(pid, 'SIGTERM')
    // Postfix closes connections while it reads its settings again; another mail host would retry.
    const codeOf = async (subject: string) =>
      (await host.receive(acme.email, subject).catch(() => undefined))?.code
    await waitFor(async () => (await codeOf('unjudged')) === 451)
    await host.up()
    await waitFor(async () => (await codeOf('judged')) === 250)
    await host.arrived(acme.email, 'judged')
  })
})
