import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { beatFor } from '../support/heartbeat.ts'
import { openImap } from '../support/imap-client.ts'
import { message, openSmtp } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const ACCOUNTS = '/api/v1/mailboxes/email-accounts'
const SHARED = '/api/v1/shared-mailboxes'
/** Rspamd of a private edge marks a message with this text. */
const MARKED = 'YJS*C4JDBQADN1.NSBN3*2IDNEN*GTUBE-STANDARD-ANTI-UBE-TEST-EMAIL*C.34X'

describe.skipIf(edgeMissing)(`settings that act on mail${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let account: string
  beforeAll(async () => {
    host = await startMailHost()
    acme = await host.app.tenant('acme')
    account = `${ACCOUNTS}/${acme.accountId}`
  })
  afterAll(() => host.stop())

  const written = () =>
    waitFor(async () => {
      const { db } = host.app.core
      const rows = await db.selectFrom('mailbox_scripts_pending').select('email').execute()
      return rows.length === 0
    })
  /** Sends from outside, because replies need a sender of their own. */
  const receive = async (to: string, from: string, subject: string, text?: string) => {
    const client = await openSmtp({ port: host.ports.smtp })
    try {
      return await client.send({ from, to, text: text ?? message(from, to, subject) })
    } finally {
      client.quit()
    }
  }
  const outside = (to: string) => waitFor(() => host.sink.to(to)[0])

  it('are announced to the holder while the mail servers are there (B2.6)', async () => {
    const holder = await host.app.session('mailbox', acme.accountId)
    // Mail needs the service jmap too, which gives its sign of life here.
    const beating = beatFor(host.app, ['jmap'])
    await waitFor(async () => {
      const { body } = await holder.get('/api/v1/mailbox/capabilities')
      const { mail, send, rules } = body.data.capabilities
      return mail && send && rules
    })
    await beating.stop()
    const { body } = await holder.get('/api/v1/mailbox/capabilities')
    expect(body.data.capabilities).toMatchObject({ mail: false, send: false, rules: true })
  })

  it('forwards and answers mail as the account says, and stops when it is turned off (B2.1)', async () => {
    await acme.put(account, {
      forward_enabled: true,
      forward_destination: 'elsewhere@outside.test',
      vacation_enabled: true,
      vacation_message: 'Gone fishing',
    })
    await written()
    await receive(acme.email, 'asks@outside.test', 'to forward')
    expect((await outside('elsewhere@outside.test')).data).toContain('Subject: to forward')
    expect((await outside('asks@outside.test')).data).toContain('Gone fishing')
    await host.arrived(acme.email, 'to forward')

    // A responder of POST /filters/vacation is the same one.
    const path = `/api/v1/filters/vacation?email=${acme.email}`
    await acme.post(path, { enabled: true, message: 'Set by the tenant' })
    await acme.put(account, { forward_enabled: false, vacation_enabled: false })
    await written()
    await receive(acme.email, 'second@outside.test', 'not forwarded')
    await host.arrived(acme.email, 'not forwarded')
    expect(host.sink.to('second@outside.test')).toEqual([])
    expect(host.sink.to('elsewhere@outside.test')).toHaveLength(1)
  })

  it('answers mail to a shared mailbox (B2.2)', async () => {
    const email = `desk@${acme.domain}`
    const made = await acme.post(SHARED, {
      email,
      name: 'Desk',
      auto_reply_enabled: true,
      auto_reply_message: 'We will answer soon',
    })
    expect(made.status).toBe(201)
    await written()
    await receive(email, 'customer@outside.test', 'a question')
    expect((await outside('customer@outside.test')).data).toContain('We will answer soon')
  })

  it('rejects spam for a domain that wants that, and marks it for others (B2.4)', async () => {
    const spam = (subject: string) =>
      message('spammer@outside.test', acme.email, subject, `${MARKED}\r\n`)
    const policy = (fields: object) =>
      acme.post('/api/v1/domains/edit/domain/policy', { domain: acme.domain, ...fields })
    expect((await receive(acme.email, 'spammer@outside.test', '', spam('marked'))).code).toBe(250)
    expect((await policy({ policy_reject_spam: 1, policy_rbl: 0 })).status).toBe(200)
    const refused = await receive(acme.email, 'spammer@outside.test', '', spam('refused'))
    expect(refused).toMatchObject({ code: 554, text: expect.stringMatching(/^554 5\.7\.1 /) })
    expect((await receive(acme.email, 'friend@outside.test', 'friendly')).code).toBe(250)
    await host.arrived(acme.email, 'friendly')
    await policy({})
    expect(host.log('rspamd')).not.toContain('Parse error')
  })

  it('enforces limits of attachments both ways, and counts what arrives (B2.7)', async () => {
    const withFile = (to: string, subject: string, name: string, bytes: number) =>
      [
        'From: friend@outside.test',
        `To: ${to}`,
        `Subject: ${subject}`,
        `Message-ID: <${subject}@outside.test>`,
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b',
        'Content-Type: text/plain',
        '',
        'see below',
        '--b',
        `Content-Type: application/octet-stream; name="${name}"`,
        `Content-Disposition: attachment; filename="${name}"`,
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.alloc(bytes, 7).toString('base64').replace(/.{76}/g, '$&\r\n'),
        '--b--',
        '',
      ].join('\r\n')
    await acme.put(account, {
      storage_quotas: { max_attachment_size: 5000, blocked_file_types: ['exe'] },
    })
    const arrive = (subject: string, name: string, bytes: number) =>
      receive(acme.email, 'friend@outside.test', '', withFile(acme.email, subject, name, bytes))
    expect(await arrive('large', 'large.pdf', 6000)).toMatchObject({
      code: 554,
      text: expect.stringContaining('large.pdf is larger than 5000 bytes'),
    })
    expect(await arrive('blocked', 'setup.exe', 100)).toMatchObject({
      code: 554,
      text: expect.stringContaining('setup.exe is of a type that is not accepted'),
    })
    expect((await arrive('fits', 'small.pdf', 3000)).code).toBe(250)
    await host.arrived(acme.email, 'fits')
    await waitFor(async () => {
      const { data } = (await acme.get(account)).body
      return data.total_attachments === 1 && data.attachment_storage_used === 3000
    })

    const client = await host.submission()
    await client.auth(acme.email, PASSWORD)
    const text = withFile('x@outside.test', 'out', 'setup.exe', 100).replace(
      'friend@outside.test',
      acme.email,
    )
    const sent = await client.send({ from: acme.email, to: 'x@outside.test', text })
    client.quit()
    expect(sent).toMatchObject({ code: 554, text: expect.stringContaining('setup.exe') })
  })

  it('writes the spam score of mail and the last login over IMAP (B2.7)', async () => {
    const client = await openImap({ port: host.ports.imaps })
    expect((await client.login(acme.email, PASSWORD)).ok).toBe(true)
    client.end()
    await waitFor(async () => {
      const { data } = (await acme.get(account)).body
      return data.last_login !== null && data.last_activity !== null
    })
    await waitFor(async () => {
      const rows = await host.app.core.db
        .selectFrom('mail_log')
        .select('spam_score')
        .where('recipient', '=', acme.email)
        .where('subject', '=', 'marked')
        .execute()
      return rows.some(({ spam_score }) => (spam_score ?? 0) >= 6)
    })
  })

  it('defers mail beyond rate_limits of the mailbox (B2.3)', async () => {
    await acme.put(account, { rate_limits: { outbound_hourly: 1 } })
    const send = async (to: string) => {
      const client = await host.submission()
      await client.auth(acme.email, PASSWORD)
      try {
        return await client.send({ from: acme.email, to, text: message(acme.email, to, 'limited') })
      } finally {
        client.quit()
      }
    }
    const replies = [await send('one@outside.test'), await send('two@outside.test')]
    expect(replies.at(-1)).toMatchObject({
      code: 450,
      text: expect.stringContaining('may pass 1 recipients'),
    })
  })
})
