import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

// Rspamd knows these by heart; the letter says what it is to think of them.
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
    host = await startMailHost({ filtering: 'own' })
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

  it('is refused at once when it is the worst', async () => {
    expect((await host.receive(acme.email, 'worst', REFUSED)).text).toMatch(/^554 5\.7\.1 /)
    expect(await held('worst')).toEqual([])
  })

  it('is marked when it is not that bad; what a sender says about it does not count', async () => {
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
    const marked = await host.arrived(acme.email, 'marked')
    expect(marked.match(/^X-Spam.*$/gim)).toEqual(['X-Spam: Yes'])
  })

  it('waits for an operator, and is delivered as it came when it is released', async () => {
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
    // A later message is there; this one is not.
    await host.receive(acme.email, 'after')
    await host.arrived(acme.email, 'after')
    expect(await inbox(acme.email)).not.toContain('Subject: held')

    const released = await admin.post(`/api/v1/message-trace/quarantine/${row.id}/release`, {
      reason: 'the recipient asked for it',
    })
    expect(released.body).toMatchObject({ data: { status: 'released' } })
    const delivered = await host.arrived(acme.email, 'held')
    expect(delivered).toContain(text.replaceAll('\n', '\r\n'))
    // Whoever released it does not think so.
    expect(delivered).not.toContain('X-Spam: Yes')
    expect(await inbox(globex.email)).not.toContain('Subject: held')
  })

  it('is deferred while Rspamd does not answer', async () => {
    const pid = host.pids().Rspamd as number
    process.kill(pid, 'SIGTERM')
    await waitFor(async () => (await host.receive(acme.email, 'unjudged')).code === 451)
    await host.up()
    await waitFor(async () => (await host.receive(acme.email, 'judged')).code === 250)
    await host.arrived(acme.email, 'judged')
  })
})
