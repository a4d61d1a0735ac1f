import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signatureOf, verifies } from '../support/dkim-verifier.ts'
import { edgeMissing, type MailHost, skipped, startMailHost } from '../support/edge.ts'
import { waitFor } from '../support/wait.ts'

const MESSAGES = '/api/v1/messages/'

describe.skipIf(edgeMissing)(`mail that is sent through the API${skipped}`, () => {
  let host: MailHost
  let acme: Awaited<ReturnType<MailHost['app']['tenant']>>
  let globex: typeof acme
  let shop: { id: string }
  beforeAll(async () => {
    host = await startMailHost({
      env: { TRACKING_ENABLED: 'true', SVC_PUBLIC_URL: 'https://panel.sending.test' },
    })
    acme = await host.app.tenant('acme')
    globex = await host.app.tenant('globex')
    shop = await host.app.hostedDomain(acme, { domain: 'shop.test' })
  })
  afterAll(() => host.stop())

  async function sent(path: string, body: object): Promise<string> {
    const answer = await acme.post(path, body)
    expect(answer.status, answer.text).toBe(202)
    return answer.body.data.messages[0].message_id
  }
  const outside = (to: string) => waitFor(() => host.sink.to(to)[0])
  const deliveriesOf = async (id: string) =>
    (await acme.get(`${MESSAGES}${encodeURIComponent(id)}`)).body.data?.deliveries ?? []
  const delivered = (id: string) =>
    waitFor(async () =>
      (await deliveriesOf(id)).find((one: { status: string }) => one.status === 'delivered'),
    )

  it('arrives in a mailbox, and trace and events have its id', async () => {
    const id = await sent(MESSAGES, {
      from: 'Orders <orders@acme.test>',
      to: [globex.email],
      subject: 'by message',
      text: 'Hello.\n.\nA line with a dot alone is above.',
    })
    const text = await host.arrived(globex.email, 'by message')
    expect(text).toContain(`Message-ID: ${id}`)
    expect(await delivered(id)).toMatchObject({
      sender: 'orders@acme.test',
      recipient: globex.email,
      direction: 'outbound',
      message_id: id,
    })
    const names = async () => {
      const events = await host.app.core.db.selectFrom('events').select(['event', 'data']).execute()
      return events
        .filter(({ data }) => (data as { message_id?: string }).message_id === id)
        .map(({ event }) => event)
    }
    await waitFor(async () => (await names()).includes('email.delivered'))
    expect(await names()).toContain('email.accepted')
  })

  it('is signed and tracked by template, with variables of each recipient', async () => {
    const made = await acme.post('/api/v1/templates/', {
      name: 'Offer',
      subject_template: 'Offer for {{ name }}',
      html_content: '<p>Hello {{ name }}, <a href="{{ link | url }}">look</a></p>',
    })
    const path = `/api/v1/templates/${made.body.data.id}/send`
    const { body } = await (await host.app.operator('owner')).get(`/api/v1/domains/${shop.id}/dkim`)
    const record = body.data.items[0].record_value as string
    let count = 0
    // The first messages may leave before Rspamd knows the key.
    const mail = await waitFor(async () => {
      const to = `reader-${++count}@outside.test`
      const id = await sent(path, {
        from: 'offers@shop.test',
        recipients: [{ to: `Jane <${to}>`, variables: { name: 'Jane & Co' } }],
        variables: { link: 'https://shop.test/offer' },
      })
      const { data } = await outside(to)
      return signatureOf(data) && { data, id }
    })
    expect(signatureOf(mail.data)).toMatchObject({ domain: 'shop.test' })
    expect(verifies(mail.data, record)).toBe(true)
    expect(mail.data).toContain(`Message-ID: ${mail.id}`)
    expect(mail.data).toContain('Subject: Offer for Jane & Co')
    const pages = mail.data
      .split(/\r\n--/)
      .map((part) => part.slice(part.indexOf('\r\n\r\n')))
      .map((part) => Buffer.from(part, 'base64').toString())
    const page = [mail.data, ...pages].join('\n').replace(/=\r\n/g, '').replaceAll('=3D', '=')
    expect(page).toContain('https://panel.sending.test/api/v1/tracking/click/')
    expect(page).toContain('Jane &amp; Co')
    await delivered(mail.id)
  })

  it('goes to no suppressed recipient, also not from the address of a mailbox', async () => {
    const to = 'gone@outside.test'
    await acme.post('/api/v1/tracking/suppress', { email: to, suppression_type: 'UNSUBSCRIBE' })
    const answer = await acme.post(MESSAGES, {
      from: acme.email,
      to: [to, 'here@outside.test'],
      subject: 'news',
      text: 'x',
    })
    expect(answer.body.data.messages).toMatchObject([
      { status: 'suppressed' },
      { status: 'queued' },
    ])
    await outside('here@outside.test')
    expect(host.sink.to(to)).toEqual([])
  })

  it('has an own address as sender', async () => {
    const body = { from: globex.email, to: ['x@outside.test'], subject: 'forged', text: 'x' }
    expect(await acme.post(MESSAGES, body)).toMatchObject({
      status: 403,
      body: { error_code: 'SENDER_NOT_ALLOWED' },
    })
  })

  it('that a transport rule refuses is in the trace with the reason', async () => {
    const rule = await acme.post('/api/v1/transport-rules/', {
      name: 'No secrets',
      direction: 'outbound',
      conditions: [{ field: 'subject', operator: 'contains', value: 'secret' }],
      actions: [{ type: 'reject', params: { message: 'secrets stay here' } }],
    })
    expect(rule.status, rule.text).toBe(201)
    const id = await sent(MESSAGES, {
      from: acme.email,
      to: ['x@outside.test'],
      subject: 'a secret',
      text: 'x',
    })
    const refused = await waitFor(async () =>
      (await deliveriesOf(id)).find((one: { status: string }) => one.status === 'rejected'),
    )
    expect(refused.bounce_reason).toContain('secrets stay here')
  })
})
