import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { startReinjectSink } from '../../../test/support/reinject-sink.ts'
import { isSuppressed } from '../../hosting/suppressions.repository.ts'
import { DAY_MS } from '../../lib/time.ts'
import { MimeMessage } from '../../mime/message.ts'
import { expireQuarantine } from './message-trace.jobs.ts'
import { type Quarantining, quarantineService } from './quarantine.service.ts'

const BASE = '/api/v1/message-trace'
const BECAUSE = { reason: 'asked for by the recipient' }
const CONTENT = 'Subject: Cheap\r\n\r\n.hidden\r\nna\xefve \x00 end\r\n'

let app: App
let sink: Awaited<ReturnType<typeof startReinjectSink>>
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
let tenants = 0
beforeAll(async () => {
  sink = await startReinjectSink()
  app = await startApp({
    env: { MAIL_REINJECT_HOST: '127.0.0.1', MAIL_REINJECT_PORT: String(sink.port) },
  })
})
beforeEach(async () => {
  tenants++
  acme = await app.tenant(`acme${tenants}`)
  admin = await app.operator('admin')
  // The lists of operators cover all tenants.
  await app.core.db.deleteFrom('quarantine').execute()
  await app.core.db.deleteFrom('blocked_senders').execute()
  sink.received.length = 0
  Object.assign(sink.state, { mood: 'well', beforeAnswer: async () => {} })
})
afterAll(async () => {
  await app.stop()
  await sink.stop()
})

const hold = (more: Partial<Quarantining> = {}) =>
  app.core.db.transaction().execute((tx) =>
    quarantineService(app.core).hold(tx, {
      organization_id: acme.organizationId,
      message_id: '<cheap@far.test>',
      queue_id: '4jQ0zX1c7Pz9TWd',
      sender: 'Spammer@far.test',
      recipient: 'jane@acme.test',
      subject: 'Cheap',
      reason: 'spam',
      spam_score: 12.5,
      headers: { From: 'spammer@far.test' },
      content: Buffer.from(CONTENT, 'latin1'),
      ...more,
    }),
  )
const release = (id: string, body: object = BECAUSE) =>
  admin.post(`${BASE}/quarantine/${id}/release`, body)
const block = (id: string, body: object = BECAUSE) =>
  admin.post(`${BASE}/quarantine/${id}/block`, body)
const listed = async (query = '') =>
  (await admin.get(`${BASE}/quarantine?${query}`)).body.data as {
    messages: Record<string, unknown>[]
    total: number
  }

it('holds mail with one entry for each recipient and decoded headers', async () => {
  const raw = Buffer.from(
    'X-Spam-Status: Yes\r\nFrom: =?utf-8?q?J=C3=BCrgen?= <j@far.test>\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\nMessage-ID: <one@far.test>\r\n\r\nHi',
  )
  const mail = {
    direction: 'inbound' as const,
    organizationId: acme.organizationId,
    sender: 'j@far.test',
    recipients: ['jane@acme.test', 'joe@acme.test'],
    login: undefined,
    clientIp: undefined,
    message: new MimeMessage(raw),
  }
  await app.core.db.transaction().execute((tx) =>
    quarantineService(app.core).holdMail(tx, mail, {
      reason: 'policy',
      rule_id: '7',
      note: 'why',
    }),
  )
  const { messages } = await listed()
  expect(messages.map(({ recipient }) => recipient).sort()).toEqual(mail.recipients)
  for (const message of messages) {
    expect(message).toMatchObject({
      message_id: '<one@far.test>',
      sender: 'j@far.test',
      subject: 'Grüße',
      reason: 'policy',
      rule_id: '7',
      spam_score: null,
      headers: {
        from: 'Jürgen <j@far.test>',
        subject: 'Grüße',
        'message-id': '<one@far.test>',
        'x-spam-status': 'Yes',
        reason: 'why',
      },
    })
  }
})

describe('quarantine list', () => {
  it('returns quarantined messages with their threat level, without their content', async () => {
    const id = await hold()
    await hold({ reason: 'virus', virus_name: 'Eicar', subject: 'Invoice', spam_score: null })
    await hold({ reason: 'policy', sender: 'a@b.test', organization_id: null, spam_score: 15 })
    const { body, text } = await admin.get(`${BASE}/quarantine?reason=spam`)
    expect(body.data).toEqual({
      messages: [
        {
          id,
          organization_id: acme.organizationId,
          message_id: '<cheap@far.test>',
          queue_id: '4jQ0zX1c7Pz9TWd',
          sender: 'Spammer@far.test',
          login: null,
          recipient: 'jane@acme.test',
          subject: 'Cheap',
          reason: 'spam',
          spam_score: 12.5,
          virus_name: null,
          rule_id: null,
          headers: { From: 'spammer@far.test' },
          status: 'quarantined',
          released_by: null,
          released_at: null,
          expires_at: expect.any(String),
          created_at: expect.any(String),
          threat_level: 'medium',
        },
      ],
      total: 1,
      limit: 50,
      offset: 0,
    })
    expect(text).not.toContain('hidden')
    const threats = (await listed()).messages.map(({ threat_level }) => threat_level)
    expect(threats).toEqual(['high', 'critical', 'medium'])
    expect((await listed('q=INVOICE')).total).toBe(1)
    expect((await listed('q=%25')).total).toBe(0)
    expect((await listed(`organization_id=${acme.organizationId}&limit=1`)).messages).toHaveLength(
      1,
    )
    expect((await listed('status=released')).total).toBe(0)
  })

  it('records the actions of operators in the timeline of a quarantined message', async () => {
    const id = await hold()
    await block(id)
    const { body } = await admin.get(`${BASE}/trace/cheap@far.test`)
    expect(body.data).toMatchObject({
      deliveries: [{ status: 'deleted', quarantine_id: id, bounce_reason: 'Held back: spam' }],
      audit_events: [{ event_type: 'block_quarantined_message', user_email: admin.email }],
    })
  })
})

describe('quarantine release', () => {
  it('delivers the unchanged message once and records the operator', async () => {
    const id = await hold()
    const answer = await release(id)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        msg: 'Message released',
        data: { id, status: 'released', released_by: admin.email, released_at: expect.any(String) },
      },
    })
    expect(sink.received).toEqual([
      { sender: 'Spammer@far.test', recipients: ['jane@acme.test'], content: CONTENT },
    ])
    expect(await release(id)).toMatchObject({
      status: 409,
      body: { msg: 'The message is already released' },
    })
    expect((await block(id)).status).toBe(409)
    expect(sink.received).toHaveLength(1)
  })

  it('delivers once when two operators release at the same time', async () => {
    const id = await hold()
    sink.state.beforeAnswer = () => new Promise((resolve) => setTimeout(resolve, 100))
    const answers = await Promise.all([release(id), release(id), release(id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(sink.received).toHaveLength(1)
  })

  it('releases a message again after the lease of a crashed release has ended', async () => {
    const id = await hold()
    const leaseEnds = (lease_until: unknown) =>
      app.core.db
        .updateTable('quarantine')
        .set({ lease_owner: 'crashed', lease_until: lease_until as string })
        .where('id', '=', id)
        .execute()
    await leaseEnds(sql`now() + interval '1 minute'`)
    for (const decide of [release, block]) {
      expect(await decide(id)).toMatchObject({
        status: 409,
        body: { msg: 'The message is being released' },
      })
    }
    await leaseEnds(sql`now()`)
    expect((await release(id)).status).toBe(200)
    expect(sink.received).toHaveLength(1)
  })

  it.each([
    ['refuses', 502, 'The mail server refused the message: 550 5.1.1 No such user'],
    ['drops', 503, 'Mail server unavailable'],
  ] as const)(
    'keeps the message in quarantine when the mail server %s it',
    async (mood, status, msg) => {
      const id = await hold()
      sink.state.mood = mood
      expect(await release(id)).toMatchObject({ status, body: { msg } })
      expect((await listed()).total).toBe(1)
      sink.state.mood = 'well'
      expect((await release(id)).status).toBe(200)
    },
  )

  it('returns 503 while no mail server is configured', async () => {
    const id = await hold()
    const other = await startApp({ database: app.database })
    try {
      const operator = await other.operator('admin')
      expect(await operator.post(`${BASE}/quarantine/${id}/release`, BECAUSE)).toMatchObject({
        status: 503,
        body: { error: 'Releasing is not configured; set MAIL_REINJECT_HOST' },
      })
    } finally {
      await other.stop()
    }
  })

  it.each([[{}], [{ reason: 'too short' }]])(
    'rejects the body %j without a valid reason',
    async (body) => {
      const id = await hold()
      expect((await release(id, body)).status).toBe(422)
      expect((await block(id, body)).status).toBe(422)
      expect(sink.received).toEqual([])
    },
  )

  it('returns 404 for an unknown message', async () => {
    for (const decide of [release, block]) {
      expect(await decide('01K9ZQ5T3M8B7C6D5E4F3G2H1J')).toMatchObject({
        status: 404,
        body: { msg: 'Quarantined message not found' },
      })
    }
  })
})

describe('quarantine block', () => {
  const blocked = () => app.core.db.selectFrom('blocked_senders').selectAll().execute()
  const suppressed = () =>
    isSuppressed(app.core.db, 'spammer@far.test', acme.organizationId, app.clock.now())

  it('deletes the message and blocks and suppresses its sender until a release', async () => {
    const id = await hold()
    expect(await block(id)).toMatchObject({
      status: 200,
      body: { msg: 'Message blocked', data: { status: 'deleted', sender_blocked: true } },
    })
    expect(await blocked()).toMatchObject([
      { organization_id: acme.organizationId, sender: 'spammer@far.test', reason: BECAUSE.reason },
    ])
    expect(await suppressed()).toBe(true)
    expect(await block(id)).toMatchObject({
      status: 409,
      body: { msg: 'The message is already deleted' },
    })

    expect((await release(id)).status).toBe(200)
    expect(sink.received).toHaveLength(1)
    expect(await blocked()).toEqual([])
    expect(await suppressed()).toBe(false)
  })

  it('blocks no sender for a message without an organization', async () => {
    const id = await hold({ organization_id: null })
    expect((await block(id)).body.data).toMatchObject({ status: 'deleted', sender_blocked: false })
    expect(await blocked()).toEqual([])
  })

  it('B4.6: does not block or suppress a user of the organization', async () => {
    const own = `jane@${acme.domain}`
    const outgoing = await hold({ sender: own, login: own, recipient: 'friend@far.test' })
    expect((await block(outgoing)).body.data).toMatchObject({
      status: 'deleted',
      sender_blocked: false,
    })
    expect(await blocked()).toEqual([])
    // The sender of mail from outside may be forged.
    expect((await block(await hold({ sender: own }))).body.data.sender_blocked).toBe(true)
    expect(await isSuppressed(app.core.db, own, acme.organizationId, app.clock.now())).toBe(false)
  })

  it('B4.6: is listed and can be undone after the message has expired', async () => {
    await block(await hold())
    app.clock.advance(31 * DAY_MS)
    admin = await app.operator('admin')
    await expireQuarantine.run(app.core)
    const list = (query = '') => admin.get(`${BASE}/blocked-senders?${query}`)
    const { body } = await list(`organization_id=${acme.organizationId}&q=SPAM`)
    expect(body.data).toMatchObject({
      blocked_senders: [
        {
          organization_id: acme.organizationId,
          sender: 'spammer@far.test',
          reason: BECAUSE.reason,
          created_by: expect.stringContaining('@'),
        },
      ],
      total: 1,
    })
    expect((await list('q=other')).body.data.total).toBe(0)
    const [{ id }] = body.data.blocked_senders
    const support = await app.operator('support')
    expect((await support.delete(`${BASE}/blocked-senders/${id}`)).status).toBe(403)
    expect((await acme.get(`${BASE}/blocked-senders`)).status).toBe(403)
    expect(await suppressed()).toBe(true)
    expect((await admin.delete(`${BASE}/blocked-senders/${id}`)).body).toMatchObject({
      msg: 'Sender unblocked',
      data: { id },
    })
    expect(await blocked()).toEqual([])
    expect(await suppressed()).toBe(false)
    expect((await admin.delete(`${BASE}/blocked-senders/${id}`)).status).toBe(404)
    const audited = await app.core.db
      .selectFrom('operator_audit')
      .select('target_id')
      .where('action', '=', 'unblock_quarantine_sender')
      .where('target_id', '=', id)
      .execute()
    expect(audited).not.toEqual([])
  })

  it('B4.6: can be avoided by deleting the message only', async () => {
    const id = await hold()
    const drop = (body: object) => admin.post(`${BASE}/quarantine/${id}/delete`, body)
    expect((await drop({})).status).toBe(422)
    expect(await drop(BECAUSE)).toMatchObject({
      status: 200,
      body: { msg: 'Message deleted', data: { id, status: 'deleted' } },
    })
    expect((await drop(BECAUSE)).status).toBe(409)
    expect(await blocked()).toEqual([])
    expect(await suppressed()).toBe(false)
    expect((await release(id)).status).toBe(200)
    expect(sink.received).toHaveLength(1)
  })

  it('rejects a block by support and a release by an operator', async () => {
    const id = await hold()
    const support = await app.operator('support')
    const operator = await app.operator('operator')
    expect((await support.post(`${BASE}/quarantine/${id}/block`, BECAUSE)).status).toBe(403)
    expect((await operator.post(`${BASE}/quarantine/${id}/release`, BECAUSE)).status).toBe(403)
    expect(sink.received).toEqual([])
  })
})

it('expires undecided quarantined messages and deletes their content', async () => {
  const id = await hold()
  app.clock.advance(31 * DAY_MS)
  // The earlier session has expired.
  admin = await app.operator('admin')
  expect(await release(id)).toMatchObject({ status: 409, body: { msg: 'The message has expired' } })
  await expireQuarantine.run(app.core)
  expect((await listed('status=expired')).messages).toMatchObject([{ id, status: 'expired' }])
  expect(await app.core.db.selectFrom('quarantined_messages').selectAll().execute()).toEqual([])
})

it('keeps quarantined messages of addresses under a legal hold', async () => {
  const owner = await app.operator('owner')
  const jane = `jane@${acme.domain}`
  const { body } = await owner.post('/api/v1/compliance/legal-holds', {
    organization_id: acme.organizationId,
    name: 'Case 12',
    reason: 'The court has asked for it',
    custodians: [jane],
  })
  const neighbour = await app.tenant(`neighbour${tenants}`)
  const received = await hold({ recipient: jane.toUpperCase() })
  const sent = await hold({ sender: `sales@${acme.domain}`, login: jane, recipient: 'x@far.test' })
  const others = [
    await hold({ recipient: `joe@${acme.domain}` }),
    await hold({ recipient: jane, organization_id: neighbour.organizationId }),
    await hold({ recipient: jane, organization_id: null }),
  ]
  const drop = (id: string) => admin.post(`${BASE}/quarantine/${id}/delete`, BECAUSE)
  const refused = { status: 409, body: { error_code: 'legal_hold_active' } }
  for (const id of [received, sent]) {
    expect(await drop(id)).toMatchObject(refused)
    expect(await block(id)).toMatchObject(refused)
  }
  expect(await app.core.db.selectFrom('blocked_senders').selectAll().execute()).toEqual([])

  const stored = async () => {
    const rows = await app.core.db.selectFrom('quarantined_messages').selectAll().execute()
    return [...new Set(rows.map(({ quarantine_id }) => quarantine_id))].sort()
  }
  app.clock.advance(31 * DAY_MS)
  await expireQuarantine.run(app.core)
  expect(await stored()).toEqual([received, sent].sort())
  admin = await app.operator('admin')
  const expired = (await listed('status=expired')).messages
  expect(expired.map(({ id }) => id).sort()).toEqual(others.sort())

  const again = await app.operator('owner')
  const path = `/api/v1/compliance/legal-holds/${body.data.id}/release`
  await again.post(path, { reason: 'The case is closed' })
  await expireQuarantine.run(app.core)
  expect(await stored()).toEqual([])
})
