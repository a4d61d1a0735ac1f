import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Mail, type Outcome, type Stage, TryLater } from '../../src/content/stage.ts'
import { MimeMessage } from '../../src/mime/message.ts'
import { PASSWORD } from '../support/app.ts'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const pass = (...mails: Mail[]): Outcome => ({ kind: 'pass', mails })

describe.skipIf(edgeMissing)(`the content filter${skipped}`, () => {
  const seen: Mail[] = []
  let act: (passing: Mail) => Outcome | Promise<Outcome>
  /** Records passing messages and applies the decision of the test. */
  const trivial: Stage = {
    name: 'trivial',
    async apply(passing) {
      seen.push(passing)
      return act(passing)
    },
  }
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let login: { username: string; secret: string; id: string }
  beforeAll(async () => {
    // A test sends more messages of one domain at once than the default limit of a second allows.
    const env = { DOMAIN_OUTBOUND_SECOND_DEFAULT: '20' }
    host = await startMailHost({ env, stages: [trivial] })
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: acme.domainId })
    login = made.body.data
  })
  afterAll(() => host.stop())
  beforeEach(() => {
    seen.length = 0
    act = (passing) => pass(passing)
  })

  const FROM = 'app@acme.test'
  const sendText = async (to: string | string[], text: string) => {
    const client = await host.submission()
    await client.auth(login.username, login.secret)
    const reply = await client.send({ from: FROM, to, text })
    client.quit()
    return reply
  }
  const send = (to: string | string[], subject: string, body?: string) =>
    sendText(to, message(FROM, [to].flat()[0] ?? '', subject, body))
  const outside = (to: string) => waitFor(() => host.sink.to(to)[0])
  const rowsOf = (recipient: string) =>
    host.app.core.db
      .selectFrom('mail_log')
      .select(['status', 'sasl_username', 'credential_id', 'queue_id', 'sender'])
      .where('recipient', '=', recipient)
      .execute()

  it('B4.10: passes mail from and to internationalized domains', async () => {
    const domain = 'xn--bcher-kva.test'
    const foreign = 'reader@xn--strae-oqa.test'
    const email = `jane@${domain}`
    const { id } = await host.app.hostedDomain(acme, { domain: 'b\u00fccher.test' })
    const jane = { email: 'jane@b\u00fccher.test', password: PASSWORD }
    const account = await acme.post('/api/v1/mailboxes/email-accounts', jane)
    expect(account.body.data).toMatchObject({ email })
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: id })
    const arrives = await openSmtp({ port: host.ports.smtp })
    const text = message(foreign, email, 'from a street')
    expect((await arrives.send({ from: foreign, to: email, text })).code).toBe(250)
    arrives.quit()
    await host.arrived(email, 'from a street')
    for (const [name, secret] of [
      [email, PASSWORD],
      [made.body.data.username, made.body.data.secret],
    ]) {
      const client = await host.submission()
      expect((await client.auth(name, secret)).code).toBe(235)
      // An author may be written in Unicode or in A-labels.
      for (const author of [email, 'jane@b\u00fccher.test']) {
        const sent = message(author, foreign, 'from a shop')
        expect((await client.send({ from: email, to: [foreign, email], text: sent })).code).toBe(
          250,
        )
      }
      client.quit()
    }
    await waitFor(() => host.sink.to(foreign).length === 4)
    expect(host.sink.to(foreign)[0]).toMatchObject({ from: email })
    await host.arrived(email, 'from a shop')
    expect(seen.flatMap(({ recipients }) => recipients)).toContain(email)
    const row = await waitFor(async () => (await rowsOf(email))[0])
    expect(row).toMatchObject({ status: 'delivered' })
  })

  it('receives submitted mail with its login and organization', async () => {
    expect((await send(['a@outside.test', 'b@outside.test'], 'outbound')).code).toBe(250)
    expect(seen).toMatchObject([
      {
        direction: 'outbound',
        organizationId: acme.organizationId,
        sender: FROM,
        recipients: ['a@outside.test', 'b@outside.test'],
        login: login.username,
        clientIp: '127.0.0.1',
      },
    ])
    const { data } = await outside('a@outside.test')
    expect(data).toContain('Subject: outbound\r\n')
    for (const text of [seen[0]?.message.raw.toString(), data, host.log('mail')]) {
      expect(text).not.toMatch(/X-Mailplane-Origin/i)
    }
  })

  it('changes messages of any byte content before they are signed', async () => {
    act = (passing) => {
      const raw = Buffer.from(
        passing.message.raw.toString('latin1').replace('Hello', 'Changed'),
        'latin1',
      )
      return pass({ ...passing, message: new MimeMessage(raw) })
    }
    const body = `Hello\n.a dot\n..two\n\nGr\u00fc\u00dfe\n${'x'.repeat(900)}\n.`
    const owner = await host.app.operator('owner')
    const dkim = await host.app.hostedDomain(acme, { domain: 'signed.test' })
    const made = await acme.post('/api/v1/smtp-credentials/', { domain_id: dkim.id })
    const { username, secret } = made.body.data
    const key = (await owner.get(`/api/v1/domains/${dkim.id}/dkim`)).body.data.items[0]
    let counter = 0
    const signed = await waitFor(async () => {
      const to = `signed-${++counter}@outside.test`
      const client = await host.submission()
      await client.auth(username, secret)
      const text = message('app@signed.test', to, 'signed', body)
      expect((await client.send({ from: 'app@signed.test', to, text })).code).toBe(250)
      client.quit()
      const { data } = await outside(to)
      return signatureOf(data) && data
    }, 20_000)
    expect(verifies(signed, key.record_value)).toBe(true)
    const received = Buffer.from(signed, 'latin1').toString('utf8')
    expect(received).toContain(body.replace('Hello', 'Changed').replaceAll('\n', '\r\n'))
  })

  it('trusts only Postfix for the identity of the sender', async () => {
    const forged = 'X-Mailplane-Origin: 0000 admin@globex.test\nx-mailplane-origin: globex\n'
    expect(
      (await sendText('c@outside.test', `${forged}${message(FROM, 'c', 'forged')}`)).code,
    ).toBe(250)
    expect(seen[0]).toMatchObject({ login: login.username, organizationId: acme.organizationId })
    expect((await outside('c@outside.test')).data).not.toMatch(/x-mailplane-origin/i)
    const mx = await openSmtp({ port: host.ports.smtp })
    const text = `${forged}${message('x@elsewhere.test', acme.email, 'forged inbound')}`
    const reply = await mx.send({ from: 'x@elsewhere.test', to: acme.email, text })
    mx.quit()
    expect(reply.code).toBe(250)
    expect(seen[1]).toMatchObject({ direction: 'inbound', organizationId: acme.organizationId })
    expect(seen[1]?.login).toBeUndefined()
    expect(await host.arrived(acme.email, 'forged inbound')).not.toMatch(/x-mailplane-origin/i)
  })

  it('rejects during the SMTP session and logs the organization', async () => {
    act = () => ({ kind: 'reject', text: 'no secrets, please' })
    const reply = await send('refused@outside.test', 'refused')
    expect(reply.text).toBe('554 5.7.1 no secrets, please')
    const rows = await waitFor(async () => {
      const found = await rowsOf('refused@outside.test')
      return found.length > 0 && found
    })
    expect(rows).toMatchObject([
      { status: 'rejected', sasl_username: login.username, credential_id: login.id },
    ])
    expect((await host.receive(acme.email, 'refused inbound')).text).toBe(
      '554 5.7.1 no secrets, please',
    )
    expect(host.sink.to('refused@outside.test')).toEqual([])
  })

  it('splits mail to several organizations and bounces only the rejected recipients', async () => {
    act = (passing) =>
      passing.organizationId === acme.organizationId
        ? { kind: 'reject', text: 'not to us' }
        : pass(passing)
    expect((await host.receive([acme.email, globex.email], 'to both')).code).toBe(250)
    expect(seen.map(({ organizationId, recipients }) => [organizationId, recipients])).toEqual([
      [acme.organizationId, [acme.email]],
      [globex.organizationId, [globex.email]],
    ])
    await host.arrived(globex.email, 'to both')
    const { data, from } = await outside('somebody@elsewhere.test')
    expect(from).toBe('')
    expect(data).toContain(`Final-Recipient: rfc822; ${acme.email}`)
    expect(data).toContain('not to us')
    expect(data).not.toContain(globex.email)
    expect((await mailIn(host.ports.imaps, acme.email, PASSWORD)).join()).not.toContain('to both')
  })

  it('sends different versions of a message to different recipients', async () => {
    act = (passing) =>
      pass(
        ...passing.recipients.map((recipient) => ({
          ...passing,
          recipients: [recipient],
          message: new MimeMessage(
            Buffer.concat([Buffer.from(`X-For: ${recipient}\r\n`), passing.message.raw]),
          ),
        })),
      )
    expect((await send(['one@outside.test', 'two@outside.test'], 'apart')).code).toBe(250)
    for (const to of ['one@outside.test', 'two@outside.test']) {
      expect((await outside(to)).data).toContain(`X-For: ${to}\r\n`)
    }
  })

  it('logs one row per message with its credential', async () => {
    expect((await send('once@outside.test', 'once')).code).toBe(250)
    await outside('once@outside.test')
    await waitFor(async () => (await rowsOf('once@outside.test')).length > 0)
    expect((await send('after@outside.test', 'after')).code).toBe(250)
    // A later message is logged, so the first one cannot be logged a second time.
    await waitFor(async () => (await rowsOf('after@outside.test')).length > 0)
    expect(await rowsOf('once@outside.test')).toMatchObject([
      { status: 'delivered', sasl_username: login.username, credential_id: login.id, sender: FROM },
    ])
  })

  it('forwards the DSN parameters of the sender', async () => {
    const client = await host.submission()
    await client.auth(acme.email, PASSWORD)
    for (const command of [
      `MAIL FROM:<${acme.email}> RET=HDRS ENVID=some+2Bid BODY=8BITMIME SIZE=100`,
      'RCPT TO:<told@outside.test> NOTIFY=SUCCESS ORCPT=rfc822;told+2Bthen@outside.test',
    ]) {
      expect((await client.say(command)).code).toBe(250)
    }
    expect((await client.say('DATA')).code).toBe(354)
    const text = message(acme.email, 'told@outside.test', 'tell me').replaceAll('\n', '\r\n')
    expect((await client.say(`${text}\r\n.`)).code).toBe(250)
    expect(client.offers).not.toContain('CHUNKING')
    client.quit()
    const report = await host.arrived(acme.email, 'Successful Mail Delivery Report')
    expect(report).toContain('Original-Envelope-Id: some+id')
    expect(report).toMatch(/Original-Recipient: rfc822; ?told\+then@outside\.test/)
  })

  it('accepts many large messages at once', async () => {
    const body = 'A line that is long enough to be worth its while.\n'.repeat(60_000)
    const names = Array.from({ length: 6 }, (_, n) => `large-${n}@outside.test`)
    const replies = await Promise.all(names.map((to) => send(to, 'large', body)))
    expect(replies.map(({ code }) => code)).toEqual(names.map(() => 250))
    for (const to of names) expect((await outside(to)).data.length).toBeGreaterThan(body.length)
  })

  it('defers a message when a stage cannot decide', async () => {
    act = () => {
      throw new Error('the database is away')
    }
    expect((await send('later@outside.test', 'later')).text).toMatch(/^451 4\.3\.0 /)
    act = () => {
      throw new TryLater('come back in a minute')
    }
    expect((await send('later@outside.test', 'later')).text).toBe('451 4.7.1 come back in a minute')
    act = (passing) => pass(passing)
    expect((await send('later@outside.test', 'later')).code).toBe(250)
    await outside('later@outside.test')
    expect(host.sink.to('later@outside.test')).toHaveLength(1)
  })

  it('lets no mail pass while it is down and delivers all of it afterwards', async () => {
    await host.stopFilter()
    expect((await send('patient@outside.test', 'away')).text).toMatch(/^451 /)
    expect((await host.receive(acme.email, 'away inbound')).text).toMatch(/^451 /)
    await host.startFilter()
    expect((await send('patient@outside.test', 'away')).code).toBe(250)
    expect((await host.receive(acme.email, 'away inbound')).code).toBe(250)
    await outside('patient@outside.test')
    await host.arrived(acme.email, 'away inbound')
    expect(host.sink.to('patient@outside.test')).toHaveLength(1)
    expect(seen).toHaveLength(2)
  })

  it('checks mail of internal services', async () => {
    const client = await openSmtp({ port: host.ports.internal })
    const text = message(FROM, 'mail@outside.test', 'internal')
    expect((await client.send({ from: FROM, to: 'mail@outside.test', text })).code).toBe(250)
    expect(seen).toMatchObject([
      { direction: 'outbound', login: FROM, organizationId: acme.organizationId },
    ])
    await outside('mail@outside.test')
    expect((await client.say('MAIL FROM:<>')).code).toBe(250)
    expect((await client.say('RCPT TO:<mail@outside.test>')).text).toMatch(/^554 5\.7\.1 .*empty/)
    client.quit()
  })
})
