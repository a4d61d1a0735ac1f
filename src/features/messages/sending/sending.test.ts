import { simpleParser } from 'mailparser'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { type Received, startReinjectSink } from '../../../../test/support/reinject-sink.ts'
import { waitFor } from '../../../../test/support/wait.ts'

const MESSAGES = '/api/v1/messages/'
const TEMPLATES = '/api/v1/templates/'
const BOB = 'bob@elsewhere.test'

let app: App
let sink: Awaited<ReturnType<typeof startReinjectSink>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: typeof acme
let from: string
beforeAll(async () => {
  sink = await startReinjectSink()
  app = await startApp({
    env: {
      MAIL_REINJECT_HOST: '127.0.0.1',
      MAIL_SERVICE_PORT: String(sink.port),
      SENDING_MAX_WAITING: '1500',
    },
  })
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
  from = `Acme <orders@${acme.domain}>`
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})
beforeEach(async () => {
  sink.state.mood = 'well'
  await nothingWaits()
  sink.received.length = 0
})

const rows = () => app.core.db.selectFrom('outgoing_messages').selectAll().execute()
const nothingWaits = () =>
  waitFor(async () => (await rows()).every(({ failed_at }) => failed_at !== null))
const wasTried = (messageId: string) =>
  waitFor(async () =>
    (await rows()).some((one) => one.message_id === messageId && one.attempts > 0),
  )
const eventsOf = async (messageId: string) => {
  const events = await app.core.db.selectFrom('events').select(['event', 'data']).execute()
  return events.filter(({ data }) => (data as { message_id?: string }).message_id === messageId)
}
const parsed = ({ content }: Received) => simpleParser(Buffer.from(content, 'latin1'))
async function accepted(path: string, body: object, headers: Record<string, string> = {}) {
  const answer = await app.send('POST', path, {
    headers: { 'x-api-key': acme.apiKey, ...headers },
    body,
  })
  expect(answer.status, answer.text).toBe(202)
  return answer.body.data as {
    messages: { message_id: string; to: string; status: string }[]
    queued: number
    suppressed: number
  }
}
async function template(more: object = {}): Promise<string> {
  const answer = await acme.post(TEMPLATES, {
    name: 'Order',
    subject_template: 'Order {{ number }} for {{ name }}',
    html_content: '<p>Hello {{ name }} of {{ company }}</p>',
    ...more,
  })
  return answer.body.data.id
}

describe('a message', () => {
  it('arrives as it was written, with its attachments', async () => {
    const attachments = [
      { filename: 'Größe.pdf', content_type: 'application/pdf', content: 'JVBERi0=' },
      { filename: 'logo.png', content_type: 'image/png', content: 'AAAA', content_id: 'logo' },
    ]
    const { messages, queued } = await accepted(MESSAGES, {
      from: `"Acme, Größe" <orders@${acme.domain}>`,
      to: [`Bob <${BOB}>`],
      cc: ['Carol@Elsewhere.test'],
      bcc: ['secret@elsewhere.test'],
      reply_to: [acme.email],
      subject: 'Grüße\r\nBcc: eve@evil.test',
      html: '<p>Hello <b>Bob</b></p>',
      headers: { 'X-Order': '4711' },
      attachments,
    })
    expect(queued).toBe(3)
    expect(new Set(messages.map(({ message_id }) => message_id)).size).toBe(1)
    await nothingWaits()
    const recipients = sink.received.map((one) => `${one.sender} ${one.recipients}`).sort()
    const sender = `orders@${acme.domain}`
    expect(recipients).toEqual([
      `${sender} ${BOB}`,
      `${sender} carol@elsewhere.test`,
      `${sender} secret@elsewhere.test`,
    ])
    const mail = await parsed(sink.received[0] as Received)
    expect(mail).toMatchObject({
      messageId: messages[0]?.message_id,
      subject: 'Grüße Bcc: eve@evil.test',
      html: '<p>Hello <b>Bob</b></p>',
      text: 'Hello Bob\n',
      from: { value: [{ name: 'Acme, Größe', address: sender }] },
      cc: { value: [{ address: 'Carol@elsewhere.test' }] },
      replyTo: { value: [{ address: acme.email }] },
      attachments: [
        { filename: 'Größe.pdf', contentType: 'application/pdf', content: Buffer.from('%PDF-') },
        { filename: 'logo.png', cid: 'logo', contentDisposition: 'inline' },
      ],
    })
    expect(mail.headers.get('x-order')).toBe('4711')
    expect(mail.bcc).toBeUndefined()
    expect(sink.received[0]?.content).not.toMatch(/secret@|^Bcc/im)
    expect(await app.core.db.selectFrom('outgoing_parts').select('id').execute()).toEqual([])
    expect((await eventsOf(messages[0]?.message_id as string)).map(({ event }) => event)).toEqual([
      'email.accepted',
      'email.accepted',
      'email.accepted',
    ])
  })

  it('from a foreign, unknown or inactive domain is refused with 403, and nothing is stored', async () => {
    const second = await acme.post('/api/v1/domains/', { domain: 'pending.test' })
    expect(second.status).toBe(201)
    for (const sender of [globex.email, 'a@nowhere.test', 'a@pending.test']) {
      const body = { from: sender, to: [BOB], subject: 's', text: 't' }
      expect(await acme.post(MESSAGES, body)).toMatchObject({
        status: 403,
        body: { error_code: 'SENDER_NOT_ALLOWED' },
      })
      const id = await template()
      const sent = { from: sender, recipients: [{ to: BOB }] }
      expect((await acme.post(`${TEMPLATES}${id}/send`, sent)).status).toBe(403)
      expect((await acme.post(`${TEMPLATES}${id}/test`, { from: sender, to: BOB })).status).toBe(
        403,
      )
    }
    expect(await rows()).toEqual([])
  })

  it('is refused with 422 when a part of it cannot be sent', async () => {
    const well = { from, to: [BOB], subject: 's', text: 't' }
    const field = async (more: object) => {
      const { status, body } = await acme.post(MESSAGES, { ...well, ...more })
      return `${status} ${body.detail?.[0]?.loc.at(-1)}`
    }
    expect(await field({ to: ['nobody'] })).toBe('422 to')
    expect(await field({ to: [`a@b.test, ${BOB}`] })).toBe('422 to')
    expect(await field({ cc: [`Bob\r\nBcc: <${BOB}>, x`] })).toBe('422 cc')
    expect(await field({ from: 'nobody' })).toBe('422 from')
    expect(await field({ text: undefined })).toBe('422 text')
    expect(await field({ headers: { Bcc: BOB } })).toBe('422 headers')
    expect(await field({ headers: { 'X-Mailplane-Origin': 'x' } })).toBe('422 headers')
    const file = { filename: 'a', content: 'no base64' }
    expect(await field({ attachments: [file] })).toBe('422 attachments')
    const large = { filename: 'a', content: 'A'.repeat(14 * 1024 * 1024) }
    expect(await field({ attachments: [large] })).toBe('422 attachments')
    expect(await rows()).toEqual([])
  })

  it('is not sent for an organization that is suspended meanwhile', async () => {
    const hooli = await app.tenant('hooli')
    sink.state.mood = 'drops'
    const body = { from: hooli.email, to: [BOB], subject: 's', text: 't' }
    const { messages } = await accepted(MESSAGES, body, { 'x-api-key': hooli.apiKey })
    await wasTried(messages[0]?.message_id as string)
    await app.core.db
      .updateTable('organizations')
      .set({ active: false })
      .where('id', '=', hooli.organizationId)
      .execute()
    sink.state.mood = 'well'
    app.clock.advance(10_000)
    await nothingWaits()
    app.clock.reset()
    expect(sink.received).toEqual([])
    expect((await eventsOf(messages[0]?.message_id as string)).at(-1)).toMatchObject({
      event: 'email.dropped',
      data: { reason: expect.stringContaining('may not send') },
    })
    expect((await hooli.post(MESSAGES, body)).status).toBe(401)
    const platform = await app.key(null, { scope: 'platform' })
    expect(await platform.post(MESSAGES, body)).toMatchObject({
      status: 403,
      body: { error_code: 'SENDER_NOT_ALLOWED' },
    })
  })

  it('is stored once for a repeated request with the same key', async () => {
    const body = { from, to: [BOB], subject: 'once', text: 't' }
    const key = { 'idempotency-key': 'order-4711' }
    const first = await accepted(MESSAGES, body, key)
    expect(await accepted(MESSAGES, body, key)).toEqual(first)
    await nothingWaits()
    expect(sink.received).toHaveLength(1)
  })

  it('to a suppressed address is dropped, also when it is suppressed after the answer', async () => {
    await acme.post('/api/v1/tracking/suppress', { email: 'gone@elsewhere.test' })
    const body = { from, to: ['Gone@elsewhere.test', BOB], subject: 's', text: 't' }
    const { messages, queued, suppressed } = await accepted(MESSAGES, body)
    expect({ queued, suppressed }).toEqual({ queued: 1, suppressed: 1 })
    expect(messages.map(({ status }) => status)).toEqual(['suppressed', 'queued'])
    const events = await eventsOf(messages[0]?.message_id as string)
    expect(events.map(({ event }) => event).sort()).toEqual(['email.accepted', 'email.dropped'])
    await nothingWaits()
    expect(sink.received.map(({ recipients }) => recipients)).toEqual([[BOB]])
  })

  it('that the mail server refuses is in the trace with the reason', async () => {
    sink.state.mood = 'refuses'
    const { messages } = await accepted(MESSAGES, { from, to: [BOB], subject: 'no', text: 't' })
    const id = messages[0]?.message_id as string
    await nothingWaits()
    const { body } = await acme.get(`${MESSAGES}${encodeURIComponent(id)}`)
    expect(body.data.deliveries).toMatchObject([
      {
        status: 'rejected',
        recipient: BOB,
        bounce_reason: '550 5.1.1 No such user',
        subject: 'no',
      },
    ])
    expect((await globex.get(`${MESSAGES}${encodeURIComponent(id)}`)).status).toBe(404)
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      event: 'email.dropped',
      data: { recipient: BOB, reason: '550 5.1.1 No such user' },
    })
    expect((await rows()).map(({ content }) => content)).toContain('')
  })

  it('waits while the mail server drops the connection, and keeps its Message-ID', async () => {
    sink.state.mood = 'drops'
    const { messages } = await accepted(MESSAGES, { from, to: [BOB], subject: 'later', text: 't' })
    const id = messages[0]?.message_id as string
    await wasTried(id)
    const { body } = await acme.get(`${MESSAGES}${encodeURIComponent(id)}`)
    expect(body.data.deliveries).toMatchObject([{ status: 'deferred', direction: 'outbound' }])
    sink.state.mood = 'well'
    app.clock.advance(10_000)
    await nothingWaits()
    app.clock.reset()
    expect(sink.received).toHaveLength(1)
    expect((await parsed(sink.received[0] as Received)).messageId).toBe(id)
  })
})

describe('a template', () => {
  it('is sent to each recipient with its own variables and Message-ID', async () => {
    const id = await template()
    const recipients = Array.from({ length: 1000 }, (_, at) => ({
      to: `Person ${at} <p${at}@elsewhere.test>`,
      variables: { name: `<n${at}>`, number: at },
    }))
    const { messages, queued } = await accepted(`${TEMPLATES}${id}/send`, {
      from,
      recipients,
      variables: { company: 'Acme', name: 'nobody' },
      strict: true,
    })
    expect(queued).toBe(1000)
    await nothingWaits()
    expect(sink.received).toHaveLength(1000)
    const byRecipient = new Map(sink.received.map((one) => [one.recipients[0], one]))
    expect(byRecipient.size).toBe(1000)
    const mail = await parsed(byRecipient.get('p999@elsewhere.test') as Received)
    expect(mail).toMatchObject({
      messageId: messages[999]?.message_id,
      subject: 'Order 999 for <n999>',
      html: '<p>Hello &lt;n999&gt; of Acme</p>',
      text: 'Hello <n999> of Acme\n',
      to: { value: [{ name: 'Person 999', address: 'p999@elsewhere.test' }] },
    })
    const [event] = await eventsOf(messages[5]?.message_id as string)
    expect(event?.data).toMatchObject({ template_id: id, recipient: 'p5@elsewhere.test' })
  })

  it('is sent to nobody when it cannot be rendered for one recipient', async () => {
    const id = await template()
    const recipients = [{ to: BOB, variables: { name: 'Bob', number: 1 } }, { to: BOB }]
    const answer = await acme.post(`${TEMPLATES}${id}/send`, { from, recipients, strict: true })
    expect(answer).toMatchObject({
      status: 400,
      body: { msg: 'Missing variable: company (set 0)' },
    })
    const many = Array.from({ length: 1001 }, () => ({ to: BOB }))
    expect((await acme.post(`${TEMPLATES}${id}/send`, { from, recipients: many })).status).toBe(422)
    const foreign = await globex.post(`${TEMPLATES}${id}/send`, {
      from: globex.email,
      recipients: [{ to: BOB }],
    })
    expect(foreign.status).toBe(404)
    expect(sink.received).toEqual([])
  })

  it('is sent to one address as a test', async () => {
    const id = await template()
    await accepted(`${TEMPLATES}${id}/test`, { from, to: BOB, variables: { number: 1 } })
    await nothingWaits()
    expect(sink.received.map(({ recipients }) => recipients)).toEqual([[BOB]])
  })

  it('is refused with 429 when too many messages of the organization wait', async () => {
    sink.state.mood = 'drops'
    const id = await template({ html_content: 'x' })
    const recipients = Array.from({ length: 1000 }, () => ({ to: BOB }))
    await accepted(`${TEMPLATES}${id}/send`, { from, recipients })
    const answer = await acme.post(`${TEMPLATES}${id}/send`, { from, recipients })
    expect(answer).toMatchObject({ status: 429, body: { error_code: 'TOO_MANY_WAITING' } })
    await app.core.db.deleteFrom('outgoing_messages').execute()
  })
})
