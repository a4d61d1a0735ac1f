import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { startReinjectSink } from '../../../test/support/reinject-sink.ts'
import { isSuppressed } from '../suppressions/suppressions.repository.ts'
import { expireQuarantine } from './message-trace.jobs.ts'
import { type Quarantining, quarantineService } from './quarantine.service.ts'

const BASE = '/api/v1/message-trace'
const BECAUSE = { reason: 'asked for by the recipient' }
const CONTENT = 'Subject: Cheap\r\n\r\n.hidden\r\nna\xefve \x00 end\r\n'

let app: App
let sink: Awaited<ReturnType<typeof startReinjectSink>>
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
beforeEach(async () => {
  sink = await startReinjectSink()
  app = await startApp({
    env: { MAIL_REINJECT_HOST: '127.0.0.1', MAIL_REINJECT_PORT: String(sink.port) },
  })
  acme = await app.tenant('acme')
  admin = await app.operator('admin')
})
afterEach(async () => {
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

describe('the list', () => {
  it('shows what is held back, and never the message itself', async () => {
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

  it('of a message that is held tells what operators did with it', async () => {
    const id = await hold()
    await block(id)
    const { body } = await admin.get(`${BASE}/trace/cheap@far.test`)
    expect(body.data).toMatchObject({
      deliveries: [],
      audit_events: [{ event_type: 'block_quarantined_message', user_email: admin.email }],
    })
  })
})

describe('a release', () => {
  it('delivers the very message, once, and says who did it', async () => {
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

  it('that two ask for at once delivers once', async () => {
    const id = await hold()
    sink.state.beforeAnswer = () => new Promise((resolve) => setTimeout(resolve, 100))
    const answers = await Promise.all([release(id), release(id), release(id)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    expect(sink.received).toHaveLength(1)
  })

  it.each([
    ['refuses', 502, 'The mail server refused the message: 550 5.1.1 No such user'],
    ['drops', 503, 'Mail server unavailable'],
  ] as const)(
    'leaves the message where it is when the mail server %s it',
    async (mood, status, msg) => {
      const id = await hold()
      sink.state.mood = mood
      expect(await release(id)).toMatchObject({ status, body: { msg } })
      expect((await listed()).total).toBe(1)
      sink.state.mood = 'well'
      expect((await release(id)).status).toBe(200)
    },
  )

  it('is 503 while no mail server is configured', async () => {
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

  it.each([[{}], [{ reason: 'too short' }]])('wants a reason: not %j', async (body) => {
    const id = await hold()
    expect((await release(id, body)).status).toBe(422)
    expect((await block(id, body)).status).toBe(422)
    expect(sink.received).toEqual([])
  })

  it('of nothing is not found', async () => {
    for (const decide of [release, block]) {
      expect(await decide('01K9ZQ5T3M8B7C6D5E4F3G2H1J')).toMatchObject({
        status: 404,
        body: { msg: 'Quarantined message not found' },
      })
    }
  })
})

describe('a block', () => {
  const blocked = () => app.core.db.selectFrom('blocked_senders').selectAll().execute()
  const suppressed = () =>
    isSuppressed(app.core.db, 'spammer@far.test', acme.organizationId, app.clock.now())

  it('drops the message, and its sender is refused and written to no more; a release undoes it', async () => {
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
      body: { msg: 'The message is already blocked' },
    })

    expect((await release(id)).status).toBe(200)
    expect(sink.received).toHaveLength(1)
    expect(await blocked()).toEqual([])
    expect(await suppressed()).toBe(false)
  })

  it('of a message that belongs to nobody blocks no sender', async () => {
    const id = await hold({ organization_id: null })
    expect((await block(id)).body.data).toMatchObject({ status: 'deleted', sender_blocked: false })
    expect(await blocked()).toEqual([])
  })

  it('by support is refused, and so is a release by an operator', async () => {
    const id = await hold()
    const support = await app.operator('support')
    const operator = await app.operator('operator')
    expect((await support.post(`${BASE}/quarantine/${id}/block`, BECAUSE)).status).toBe(403)
    expect((await operator.post(`${BASE}/quarantine/${id}/release`, BECAUSE)).status).toBe(403)
    expect(sink.received).toEqual([])
  })
})

it('what nobody decided about expires, and the message goes', async () => {
  const id = await hold()
  app.clock.advance(31 * 24 * 60 * 60 * 1000)
  // Sessions have ended meanwhile.
  admin = await app.operator('admin')
  expect(await release(id)).toMatchObject({ status: 409, body: { msg: 'The message has expired' } })
  await expireQuarantine.run(app.core)
  expect((await listed('status=expired')).messages).toMatchObject([{ id, status: 'expired' }])
  expect(await app.core.db.selectFrom('quarantined_messages').selectAll().execute()).toEqual([])
})
