import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, clientOf, INTERNAL_TOKEN, startApp } from '../../../../test/support/app.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let service: ReturnType<typeof clientOf>
beforeAll(async () => {
  app = await startApp({ env: { WEBHOOK_URL: 'http://127.0.0.1:9/' } })
  acme = await app.tenant('acme')
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
})
afterAll(() => app.stop())

/** The response of a call, and the events that it stored. */
async function report(path: string, body: unknown) {
  const before = await eventCount()
  const answer = await service.post(path, body)
  const events = await app.core.db
    .selectFrom('events')
    .selectAll()
    .orderBy('sequence')
    .offset(before)
    .execute()
  return { answer, events }
}
const eventCount = async () =>
  (await app.core.db.selectFrom('events').select('id').execute()).length

const EML = [
  'Message-ID: <m1@globex.test>',
  'From: Grace <grace@globex.test>',
  'To: ada@elsewhere.test',
  'Subject: =?utf-8?q?caf=C3=A9?=',
  'Content-Type: multipart/mixed; boundary=b',
  '',
  '--b',
  'Content-Disposition: attachment; filename=a.pdf',
  '',
  'a secret',
  '--b--',
].join('\r\n')

describe('POST /webhook/email/inbound', () => {
  it.each([
    ['nothing', {}],
    ['no message', { recipient: 'admin@acme.test' }],
    ['an empty message', { eml_content: '' }],
    ['null for the message', { eml_content: null }],
  ])('rejects %s', async (_what, body) => {
    for (const path of ['/webhook/email/inbound', '/webhook/email/outbound']) {
      const { answer, events } = await report(path, body)
      expect(answer).toMatchObject({
        status: 400,
        body: { error: 'No EML content provided', msg: 'No EML content provided' },
      })
      expect(events).toEqual([])
    }
  })

  it('rejects a field of the wrong type', async () => {
    for (const wrong of [{ eml_content: 7 }, { eml_content: 'x', tls_used: 'maybe' }]) {
      const { answer, events } = await report('/webhook/email/inbound', wrong)
      expect(answer.status).toBe(422)
      expect(answer.body.error).toBe(answer.body.msg)
      expect(events).toEqual([])
    }
  })

  it('stores and enqueues an event for the owner of the recipient, without the content', async () => {
    const { answer, events } = await report('/webhook/email/inbound', {
      eml_content: EML,
      recipient: '<Admin@ACME.test>',
      sender: 'bounce@globex.test',
      tls_used: true,
      spf_result: 'pass',
      spam_score: 1.5,
      unknown_field: 'ignored',
    })
    expect(answer).toMatchObject({ status: 200 })
    expect(answer.body).toEqual({ status: 'success', message: 'Webhook queued' })
    expect(events).toMatchObject([
      { event: 'email.inbound', source: 'postfix', org_id: acme.organizationId },
    ])
    expect(events[0]?.domain).toBe('acme.test')
    expect(events[0]?.data).toEqual({
      message_id: '<m1@globex.test>',
      from: 'bounce@globex.test',
      to: '<Admin@ACME.test>',
      subject: 'café',
      size: Buffer.byteLength(EML),
      has_attachments: true,
      spam_score: 1.5,
      tls_used: true,
      spf_result: 'pass',
      dkim_result: null,
      dmarc_result: null,
    })
    expect(JSON.stringify(events)).not.toContain('a secret')
    const queued = await app.core.db
      .selectFrom('webhook_queue')
      .selectAll()
      .where('event_id', '=', events[0]?.id ?? '')
      .execute()
    expect(queued).toHaveLength(1)
  })

  it('ignores the message headers when it looks for the owner', async () => {
    const forged = EML.replace('ada@elsewhere.test', 'admin@acme.test')
    const stranger = await report('/webhook/email/inbound', {
      eml_content: forged,
      recipient: 'ada@elsewhere.test',
    })
    expect(stranger.events).toMatchObject([{ org_id: null, domain: 'elsewhere.test' }])
    const { events } = await report('/webhook/email/inbound', { eml_content: forged })
    expect(events).toMatchObject([{ org_id: null, domain: null, data: { to: 'admin@acme.test' } }])
  })

  it('accepts a large message and rejects one over the limit', async () => {
    const large = `Subject: large\r\n\r\n${'x'.repeat(3_000_000)}`
    const { answer, events } = await report('/webhook/email/inbound', { eml_content: large })
    expect(answer.status).toBe(200)
    expect(events).toMatchObject([{ data: { subject: 'large', size: large.length } }])
    const tooLarge = await service.post('/webhook/email/inbound', {
      eml_content: 'x'.repeat(17 * 1024 * 1024),
    })
    expect(tooLarge).toMatchObject({ status: 413, body: { error: 'Request body is too large' } })
  })

  it('stores one event for repeated requests with one Idempotency-Key', async () => {
    const before = await eventCount()
    const headers = { 'idempotency-key': 'message-1' }
    const body = { eml_content: EML, recipient: 'admin@acme.test' }
    for (const replayed of [undefined, 'true']) {
      const answer = await service.post('/webhook/email/inbound', body, { headers })
      expect(answer.status).toBe(200)
      expect(answer.headers['idempotency-replayed']).toBe(replayed)
    }
    expect(await eventCount()).toBe(before + 1)
  })
})

describe('POST /webhook/email/outbound', () => {
  it('stores an event for the owner of the login', async () => {
    const { answer, events } = await report('/webhook/email/outbound', {
      eml_content: EML,
      sender: 'admin@acme.test',
      recipients: ['grace@globex.test', 'ben@globex.test'],
      queue_id: '4XqT0k1y5dz9v',
      auth_user: 'admin@acme.test',
    })
    expect(answer.body).toEqual({ status: 'success', message: 'Webhook queued' })
    expect(events).toMatchObject([
      { event: 'email.outbound', source: 'postfix', org_id: acme.organizationId },
    ])
    expect(events[0]?.data).toEqual({
      message_id: '<m1@globex.test>',
      from: 'admin@acme.test',
      to: ['grace@globex.test', 'ben@globex.test'],
      subject: 'café',
      size: Buffer.byteLength(EML),
      queue_id: '4XqT0k1y5dz9v',
      delivery_status: 'queued',
      tls_used: false,
    })
  })

  it('stores an event for the owner of the login when there is no sender', async () => {
    const { events } = await report('/webhook/email/outbound', {
      eml_content: EML,
      sender: '',
      auth_user: 'admin@acme.test',
    })
    expect(events).toMatchObject([{ org_id: acme.organizationId, domain: 'acme.test' }])
  })

  it('stores no event for the owner of a sender without a login (S19)', async () => {
    const { events } = await report('/webhook/email/outbound', {
      eml_content: EML,
      sender: 'ceo@acme.test',
      recipients: ['x@elsewhere.test'],
    })
    expect(events).toMatchObject([{ org_id: null }])
  })
})

describe('POST /webhook/email/imap and /pop3', () => {
  it.each([
    ['imap', 'read', 'email.read'],
    ['imap', 'delete', 'email.deleted'],
    ['imap', 'move', 'email.moved'],
    ['imap', 'copy', 'email.copied'],
    ['imap', 'flag', 'email.flagged'],
    ['imap', 'unflag', 'email.unflagged'],
    ['imap', 'APPEND', 'email.imap.append'],
    ['imap', 'constructor', 'email.imap.constructor'],
    ['imap', undefined, 'email.imap.unknown'],
    ['pop3', 'login', 'pop3.session.start'],
    ['pop3', 'download', 'pop3.messages.downloaded'],
    ['pop3', 'logout', 'pop3.session.end'],
    ['pop3', '__proto__', 'email.pop3.__proto__'],
    ['pop3', null, 'email.pop3.unknown'],
  ])('stores the %s action %s as %s', async (protocol, action, event) => {
    const { answer, events } = await report(`/webhook/email/${protocol}`, {
      action,
      user: 'admin@acme.test',
    })
    expect(answer).toMatchObject({ status: 200, body: { message: 'Webhook queued' } })
    expect(events).toMatchObject([
      { event, source: 'dovecot', org_id: acme.organizationId, domain: 'acme.test' },
    ])
  })

  it('rejects an action that cannot be part of an event name', async () => {
    for (const action of ['a.b', 'a b', '', 'x'.repeat(41), '*', 'é']) {
      const { answer, events } = await report('/webhook/email/imap', { action })
      expect(answer.status, action).toBe(400)
      expect(answer.body.error).toContain('action must be a word')
      expect(events).toEqual([])
    }
  })

  it('stores the fields that were sent', async () => {
    const { events } = await report('/webhook/email/imap', {
      action: 'flag',
      user: 'admin@acme.test',
      mailbox: 'INBOX',
      message_uid: 42,
      flags: ['\\Flagged'],
    })
    expect(events[0]?.data).toEqual({
      user: 'admin@acme.test',
      mailbox: 'INBOX',
      message_uid: '42',
      message_id: null,
      action: 'flag',
      flags: ['\\Flagged'],
    })
  })
})

describe('POST /alertmanager', () => {
  const alert = (status: string, alertname: string) => ({
    status,
    labels: { alertname, severity: 'critical' },
    annotations: { summary: 'Disk', description: 'Almost full' },
    startsAt: '2026-11-15T09:30:00Z',
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.test/graph',
    fingerprint: 'f1',
  })

  it.each([
    ['no JSON', '{not json'],
    ['nothing', ''],
    ['a list', '[]'],
    ['no alerts', '{"version": "4"}'],
    ['alerts that are none', '{"alerts": [7]}'],
    ['labels that are none', '{"alerts": [{"labels": [1]}]}'],
  ])('rejects the whole notification with %s', async (_what, raw) => {
    const before = await eventCount()
    const answer = await app.send('POST', '/alertmanager', {
      raw,
      headers: { 'x-internal-token': INTERNAL_TOKEN, 'content-type': 'application/json' },
    })
    expect(answer).toMatchObject({ status: 400, body: { error: 'Invalid JSON payload' } })
    expect(await eventCount()).toBe(before)
  })

  it('stores one event for each alert', async () => {
    const { answer, events } = await report('/alertmanager', {
      version: '4',
      groupKey: 'g',
      receiver: 'mailplane',
      externalURL: 'http://alertmanager.test',
      alerts: [alert('firing', 'One'), alert('resolved', 'Two'), {}],
    })
    expect(answer.body).toEqual({ status: 'success', alerts_forwarded: 3 })
    expect(events.map(({ event, org_id }) => [event, org_id])).toEqual([
      ['system.alert.firing', null],
      ['system.alert.resolved', null],
      ['system.alert.firing', null],
    ])
    expect(events[0]?.data).toEqual({
      alertname: 'One',
      severity: 'critical',
      status: 'firing',
      summary: 'Disk',
      description: 'Almost full',
      labels: { alertname: 'One', severity: 'critical' },
      annotations: { summary: 'Disk', description: 'Almost full' },
      starts_at: '2026-11-15T09:30:00Z',
      ends_at: '0001-01-01T00:00:00Z',
      generator_url: 'http://prometheus.test/graph',
      fingerprint: 'f1',
      receiver: 'mailplane',
      group_key: 'g',
      external_url: 'http://alertmanager.test',
    })
  })
})

describe('POST /webhook/test', () => {
  it.each([[{ any: 'thing' }], [[1, 2]], ['text'], [7]])(
    'stores an event with the payload %j',
    async (payload) => {
      const { answer, events } = await report('/webhook/test', payload)
      expect(answer.body).toEqual({ status: 'success', message: 'Test webhook queued' })
      expect(events).toMatchObject([
        { event: 'webhook.test', source: 'webhooks', org_id: null, data: { test: true, payload } },
      ])
    },
  )
})

describe('GET /webhook/status', () => {
  it('returns the queue size and the number of configured URLs', async () => {
    const { body } = await service.get('/webhook/status')
    const waiting = await app.core.db.selectFrom('webhook_queue').selectAll().execute()
    expect(body).toEqual({
      status: 'active',
      queue_size: waiting.length,
      webhook_urls_configured: 1,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(waiting.length).toBeGreaterThan(0)
  })
})
