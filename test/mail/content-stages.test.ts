import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { mailIn } from '../support/imap-client.ts'
import { message } from '../support/smtp-client.ts'
import { waitFor } from '../support/wait.ts'

const RULES = '/api/v1/transport-rules/'
const POLICIES = '/api/v1/security/dlp/policies'
const FROM = 'app@stages.test'
const CARD = '4111 1111 1111 1111'
const TARGET = 'https://shop.example/offer?id=7&utm_source=news'
const PAGE = `<html><body><p>Hello, <a href="${TARGET.replace('&', '&amp;')}">an offer</a></p></body></html>`

/** A text part and an HTML part, as mail programs send them. */
const newsletter = (to: string, subject: string) =>
  [
    message(FROM, to, subject, '').trimEnd(),
    'MIME-Version: 1.0',
    'Content-Type: multipart/alternative; boundary=half',
    '',
    '--half',
    'Content-Type: text/plain; charset=utf-8',
    '',
    `An offer: ${TARGET}`,
    '--half',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: quoted-printable',
    '',
    PAGE.replaceAll('=', '=3D'),
    '--half--',
    '',
  ].join('\n')

describe.skipIf(edgeMissing)(`mail through all stages${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let admin: Awaited<ReturnType<MailHost['app']['operator']>>
  let record: string
  let login: { username: string; secret: string; id: string }
  beforeAll(async () => {
    host = await startMailHost({
      env: { TRACKING_ENABLED: 'true', SVC_PUBLIC_URL: 'https://panel.stages.test' },
    })
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    admin = await host.app.operator('owner')
    const made = await host.app.hostedDomain(acme, { domain: 'stages.test' })
    const domain_id = made.id as string
    login = (await acme.post('/api/v1/smtp-credentials/', { domain_id })).body.data
    const keys = await admin.get(`/api/v1/domains/${domain_id}/dkim`)
    record = keys.body.data.items[0].record_value
  })
  afterAll(() => host.stop())

  const loggedIn = async () => {
    const client = await host.submission()
    expect((await client.auth(login.username, login.secret)).code).toBe(235)
    return client
  }
  const sendText = async (to: string | string[], text: string) => {
    const client = await loggedIn()
    try {
      return await client.send({ from: FROM, to, text })
    } finally {
      client.quit()
    }
  }
  const send = (to: string | string[], subject: string, body?: string) =>
    sendText(to, message(FROM, [to].flat()[0] ?? '', subject, body))
  const outside = (to: string) => waitFor(() => host.sink.to(to)[0])
  const inbox = async (user: string) =>
    (await mailIn(host.ports.imaps, user, PASSWORD)).join('\r\n')
  /** Runs the work with a rule for messages whose subject contains a word. */
  async function withRule<Result>(
    action: { type: string; params: object },
    subject: string,
    work: (id: string) => Promise<Result>,
  ): Promise<Result> {
    const { status, body } = await acme.post(RULES, {
      name: subject,
      conditions: [{ field: 'subject', operator: 'contains', value: subject }],
      actions: [action],
    })
    expect(status).toBe(201)
    try {
      return await work(body.data.id)
    } finally {
      expect((await acme.delete(`${RULES}${body.data.id}`)).status).toBe(200)
    }
  }

  it('is rejected by a transport rule during the SMTP session, inbound and outbound', async () => {
    const action = { type: 'reject', params: { message: 'not from this house' } }
    await withRule(action, 'forbidden', async (id) => {
      const reply = await send('reader@outside.test', 'forbidden')
      expect(reply.text).toBe('554 5.7.1 not from this house')
      expect((await host.receive(acme.email, 'forbidden')).text).toBe(
        '554 5.7.1 not from this house',
      )
      // The rule of one organization does not apply to another.
      expect((await host.receive(globex.email, 'forbidden')).code).toBe(250)
      await host.arrived(globex.email, 'forbidden')
      await waitFor(async () => (await acme.get(`${RULES}${id}`)).body.data.hit_count === 2)
    })
    expect(host.sink.to('reader@outside.test')).toEqual([])
    expect((await send('reader@outside.test', 'forbidden')).code).toBe(250)
    await outside('reader@outside.test')
  })

  it('gets a header added by a rule', async () => {
    const action = { type: 'add_header', params: { name: 'X-Class', value: 'internal' } }
    await withRule(action, 'classified', async () => {
      expect((await send('class@outside.test', 'classified')).code).toBe(250)
      expect((await host.receive(acme.email, 'classified')).code).toBe(250)
    })
    expect((await outside('class@outside.test')).data).toContain('X-Class: internal\r\n')
    expect(await host.arrived(acme.email, 'classified')).toContain('X-Class: internal\r\n')
  })

  it('is redirected by a rule to another recipient', async () => {
    const action = { type: 'redirect', params: { address: acme.email } }
    await withRule(action, 'diverted', async () => {
      expect((await send('meant@outside.test', 'diverted')).code).toBe(250)
    })
    await host.arrived(acme.email, 'diverted')
    expect((await send('meant@outside.test', 'straight')).code).toBe(250)
    expect((await outside('meant@outside.test')).data).toContain('Subject: straight\r\n')
  })

  it('gets a disclaimer that the DKIM signature covers', async () => {
    const action = { type: 'add_disclaimer', params: { text: 'Acme Ltd., no liability.' } }
    let count = 0
    const signed = await withRule(action, 'disclaimed', () =>
      // The key takes a moment to reach Rspamd; until then mail is sent unsigned.
      waitFor(async () => {
        const to = `disclaimed-${++count}@outside.test`
        expect((await send(to, 'disclaimed')).code).toBe(250)
        const { data } = await outside(to)
        return signatureOf(data) && data
      }),
    )
    expect(signed).toMatch(/Hello\.\r\n[\s\S]*Acme Ltd\., no liability\./)
    expect(verifies(signed, record)).toBe(true)
  })

  it('is quarantined for the operators and delivered on release', async () => {
    const action = { type: 'quarantine', params: { reason: 'looks odd' } }
    await withRule(action, 'odd', async () => {
      expect((await host.receive(acme.email, 'odd')).code).toBe(250)
    })
    const { body } = await admin.get('/api/v1/message-trace/quarantine')
    const row = body.data.messages.find((one: { subject: string }) => one.subject === 'odd')
    expect(row).toMatchObject({ recipient: acme.email, reason: 'transport_rule' })
    expect((await host.receive(acme.email, 'even')).code).toBe(250)
    await host.arrived(acme.email, 'even')
    expect(await inbox(acme.email)).not.toContain('Subject: odd')
    const path = `/api/v1/message-trace/quarantine/${row.id}/release`
    expect((await admin.post(path, { reason: 'it is fine' })).status).toBe(200)
    await host.arrived(acme.email, 'odd')
  })

  it('is rejected when a DLP policy finds a card number, which is stored nowhere', async () => {
    const policy = await admin.post(POLICIES, {
      organization_id: acme.organizationId,
      name: 'Cards',
      policy_type: 'pii',
      patterns: ['credit_card'],
      action: 'block',
      reason: 'card numbers do not leave',
    })
    expect(policy.status).toBe(201)
    const reply = await send('shop@outside.test', 'pay', `Take ${CARD}, please.`)
    expect(reply.text).toMatch(/^554 5\.7\.1 .*Cards/)
    expect((await send('shop@outside.test', 'pay', 'Take 4111 1111 1111 1112.')).code).toBe(250)
    expect((await outside('shop@outside.test')).data).toContain('1112')
    expect(host.sink.to('shop@outside.test')).toHaveLength(1)
    const { body } = await admin.get('/api/v1/security/dlp/violations')
    expect(body.data.items).toMatchObject([
      { sender: FROM, violation_type: 'credit_card', action_taken: 'block' },
    ])
    const rows = await host.app.core.db.selectFrom('dlp_violations').selectAll().execute()
    expect(JSON.stringify(rows).replace(/\D/g, '')).not.toContain(CARD.replace(/\D/g, ''))
  })

  it('records opens and clicks, and its DKIM signature stays valid', async () => {
    let count = 0
    const data = await waitFor(async () => {
      const to = `news-${++count}@outside.test`
      expect((await sendText(to, newsletter(to, 'news'))).code).toBe(250)
      const mail = await outside(to)
      return signatureOf(mail.data) && mail.data
    })
    expect(verifies(data, record)).toBe(true)
    const page = data.replace(/=\r\n/g, '').replaceAll('=3D', '=')
    const urls = page.match(/https:\/\/panel\.stages\.test\/[^"'>\s]+/g) ?? []
    const pathOf = (word: string) => {
      const url = new URL(
        (urls.find((one) => one.includes(`/${word}/`)) ?? '').replace('&amp;', '&'),
      )
      return `${url.pathname}${url.search}`
    }
    // The text part keeps its original links.
    expect(page).toContain(`An offer: ${TARGET}`)
    expect(page.match(/<a href="([^"]*)"/)?.[1]).toContain('/api/v1/tracking/click/')

    const clicked = await host.app.send('GET', pathOf('click'))
    expect(clicked.status).toBe(302)
    expect(clicked.headers.location).toBe(TARGET)
    expect((await host.app.send('GET', pathOf('pixel'))).status).toBe(200)

    expect(data).toContain('List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n')
    const to = `news-${count}@outside.test`
    expect((await sendText(to, newsletter(to, 'more news'))).code).toBe(250)
    const left = await host.app.send('POST', pathOf('unsubscribe'), {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      raw: 'List-Unsubscribe=One-Click',
    })
    expect(left.status).toBe(200)
    await host.app.limiter.settled()
    const client = await loggedIn()
    await client.say(`MAIL FROM:<${FROM}>`)
    expect((await client.say(`RCPT TO:<${to}>`)).text).toMatch(/^554 5\.7\.1 .*suppressed/)
    expect((await client.say('RCPT TO:<somebody-else@outside.test>')).code).toBe(250)
    client.quit()
  })

  it('is not tracked when a person sends it', async () => {
    const client = await host.submission()
    expect((await client.auth(acme.email, PASSWORD)).code).toBe(235)
    const to = 'friend@outside.test'
    const text = newsletter(to, 'private').replaceAll(FROM, acme.email)
    expect((await client.send({ from: acme.email, to, text })).code).toBe(250)
    client.quit()
    const { data } = await outside(to)
    expect(data).not.toContain('panel.stages.test')
    expect(data).not.toMatch(/^List-Unsubscribe/im)
  })
})
