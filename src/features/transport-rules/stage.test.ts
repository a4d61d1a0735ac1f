import { simpleParser } from 'mailparser'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { mail, manyParts, SHAPES } from '../../../test/support/messages.ts'
import { waitFor } from '../../../test/support/wait.ts'
import type { Mail, Outcome } from '../../content/stage.ts'
import { MimeMessage } from '../../mime/message.ts'
import { decodeWords } from '../../mime/words.ts'
import { type TransportRulesStage, transportRulesStage } from './stage.ts'

const PATH = '/api/v1/transport-rules/'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let stage: TransportRulesStage
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  stage = transportRulesStage(app.core)
})
afterAll(async () => {
  await stage.stop()
  await app.stop()
})
beforeEach(async () => {
  await app.core.db.deleteFrom('transport_rules').execute()
  await app.core.db.deleteFrom('quarantine').execute()
})

const create = async (more: object) => {
  const answer = await acme.post(PATH, { name: 'Rule', ...more })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data as { id: string }
}
const when = (field: string, operator: string, value: string) => ({
  conditions: [{ field, operator, value }],
})
const act = (type: string, params: object = {}) => ({ actions: [{ type, params }] })
const mark = act('add_header', { name: 'X-Mark', value: 'yes' })

type GivenMail = Partial<Mail> & { raw?: Buffer }
const EXAMPLE = SHAPES['text, HTML and an attachment'] as Buffer
const passing = ({ raw = EXAMPLE, ...more }: GivenMail = {}): Mail => ({
  direction: 'outbound',
  organizationId: acme.organizationId,
  sender: 'ada@acme.test',
  recipients: ['grace@globex.test'],
  login: 'ada@acme.test',
  clientIp: '192.0.2.7',
  message: new MimeMessage(raw),
  ...more,
})
const mailsOf = (outcome: Outcome) => {
  if (outcome.kind !== 'pass') throw new Error(`not passed: ${JSON.stringify(outcome)}`)
  return outcome.mails
}
const isMarked = async (more: GivenMail = {}) => {
  const [message] = mailsOf(await stage.apply(passing(more)))
  return message?.message.raw.toString('latin1').startsWith('X-Mark: yes\r\n')
}

it('passes the message unchanged when no transport rule matches', async () => {
  const message = passing()
  expect(mailsOf(await stage.apply(message))).toEqual([message])
  await create({ ...when('subject', 'equals', 'something else'), ...mark })
  expect(mailsOf(await stage.apply(message))[0]).toBe(message)
})

it('applies a rule change of another process from the next message', async () => {
  const other = await startApp({ database: app.database })
  try {
    const key = { headers: { 'x-api-key': acme.apiKey } }
    const { id } = await create({ ...when('subject', 'contains', 'hello'), ...mark })
    expect(await isMarked()).toBe(true)
    for (const enabled of [false, true, false]) {
      await other.send('PUT', `${PATH}${id}/enable?enabled=${enabled}`, key)
      expect(await isMarked()).toBe(enabled)
    }
  } finally {
    await other.stop()
  }
})

it('does not apply transport rules to the mail of another organization', async () => {
  const globex = await app.tenant('globex')
  await create({ ...when('subject', 'contains', 'hello'), ...mark })
  expect(await isMarked({ organizationId: globex.organizationId })).toBe(false)
})

describe('transport rule condition', () => {
  it.each<[string, string, string, boolean]>([
    ['sender', 'equals', 'ADA@acme.test', true],
    ['sender', 'ends_with', '@acme.test', true],
    ['sender', 'starts_with', 'eve', false],
    ['recipient', 'contains', 'globex', true],
    ['recipient', 'regex', '^grace@.*\\.test$', true],
    ['recipient', 'regex', '^grace$', false],
    ['subject', 'equals', 'hello', true],
    ['subject', 'regex', '(?-i)hello', false],
    ['header', 'contains', 'Received: client.example', true],
    ['header', 'contains', 'X-Missing:', false],
    ['header', 'contains', 'message-id:', true],
    ['header', 'equals', 'To: grace@globex.test', true],
    ['size', 'greater_than', '100', true],
    ['size', 'less_than', '100', false],
    ['has_attachment', 'equals', 'true', true],
    ['has_attachment', 'equals', 'false', false],
  ])('%s %s %s matches: %s', async (field, operator, value, matches) => {
    await create({ ...when(field, operator, value), ...mark })
    expect(await isMarked()).toBe(matches)
  })

  it('on the sender matches the From field too', async () => {
    await create({ ...when('sender', 'equals', 'boss@acme.test'), ...mark })
    const raw = mail('From: "The Boss" <boss@acme.test>', '', '')
    expect(await isMarked({ sender: 'bounces@list.test', raw })).toBe(true)
  })

  it('matches a subject in encoded words and a subject in UTF-8', async () => {
    await create({
      ...when('subject', 'contains', 'GRÜSSE'.toLowerCase().replace('ss', 'ß')),
      ...mark,
    })
    expect(await isMarked({ raw: SHAPES['encoded words'] as Buffer })).toBe(true)
    expect(await isMarked({ raw: SHAPES['UTF-8 in the header'] as Buffer })).toBe(true)
  })

  it('must match together with all others, or alone with condition_logic any', async () => {
    const conditions = [
      { field: 'subject', operator: 'contains', value: 'hello' },
      { field: 'sender', operator: 'contains', value: 'nobody' },
    ]
    const { id } = await create({ conditions, ...mark })
    expect(await isMarked()).toBe(false)
    await acme.put(PATH + id, { name: 'Rule', conditions, condition_logic: 'any', ...mark })
    expect(await isMarked()).toBe(true)
  })

  it('applies only to mail in the direction of the rule', async () => {
    await create({ ...when('size', 'greater_than', '0'), ...mark, direction: 'inbound' })
    expect(await isMarked()).toBe(false)
    expect(await isMarked({ direction: 'inbound' })).toBe(true)
  })

  it('evaluates an expression with nested repetition in linear time', async () => {
    await create({ ...when('subject', 'regex', '^(a+)+$'), ...mark })
    const raw = mail(`Subject: ${'a'.repeat(8000)}!`, '', '')
    const begun = process.cpuUsage()
    expect(await isMarked({ raw })).toBe(false)
    expect(process.cpuUsage(begun).user).toBeLessThan(3_000_000)
  })
})

describe('transport rule action', () => {
  const any = when('size', 'greater_than', '0')

  it.each(Object.keys(SHAPES).filter((name) => name !== 'nothing'))(
    'edits header, subject and text and keeps all attachments: %s',
    async (name) => {
      await create({
        ...any,
        actions: [
          { type: 'add_header', params: { name: 'X-Mark', value: 'Größe' } },
          { type: 'modify_subject', params: { prefix: '[EXT] ' } },
          { type: 'add_disclaimer', params: { text: 'Vertraulich – größte Sorgfalt' } },
        ],
      })
      const raw = SHAPES[name] as Buffer
      const [message] = mailsOf(await stage.apply(passing({ raw })))
      const before = await simpleParser(raw)
      const after = await simpleParser(message?.message.raw as Buffer)
      expect(decodeWords(String(after.headers.get('x-mark')))).toBe('Größe')
      expect(after.subject).toBe(`[EXT] ${before.subject ?? ''}`.trim())
      expect(after.attachments.map(({ content }) => content.toString('base64'))).toEqual(
        before.attachments.map(({ content }) => content.toString('base64')),
      )
    },
  )

  it('reject refuses the message for all recipients', async () => {
    await create({
      ...when('recipient', 'equals', 'a@x.test'),
      ...act('reject', { message: 'Not there' }),
    })
    await create({ ...when('recipient', 'equals', 'b@x.test'), ...act('quarantine'), priority: 1 })
    const outcome = await stage.apply(passing({ recipients: ['b@x.test', 'a@x.test'] }))
    expect(outcome).toEqual({ kind: 'reject', text: 'Not there' })
    expect(await app.core.db.selectFrom('quarantine').selectAll().execute()).toEqual([])
  })

  it('quarantine holds the message for matching recipients and lists it in the quarantine', async () => {
    const { id } = await create({
      ...when('recipient', 'ends_with', '@globex.test'),
      ...act('quarantine', { reason: 'Globex' }),
    })
    const recipients = ['grace@globex.test', 'zoe@x.test', 'gus@globex.test']
    const messages = mailsOf(await stage.apply(passing({ recipients })))
    expect(messages.map((one) => one.recipients)).toEqual([['zoe@x.test']])
    const rows = await app.core.db
      .selectFrom('quarantine')
      .selectAll()
      .orderBy('recipient')
      .execute()
    expect(rows).toMatchObject([
      { recipient: 'grace@globex.test', reason: 'transport_rule', rule_id: id, subject: 'Hello' },
      { recipient: 'gus@globex.test', sender: 'ada@acme.test', message_id: '<one@acme.test>' },
    ])
    expect(rows[0]?.headers).toMatchObject({ reason: 'Globex', to: 'grace@globex.test' })
    expect(await stage.apply(passing({ recipients: ['gus@globex.test'] }))).toEqual({
      kind: 'held',
    })
    const operator = await app.operator('support')
    const listed = await operator.get('/api/v1/message-trace/quarantine?reason=transport_rule')
    expect(listed.body.data.total).toBe(3)
  })

  it('redirect replaces matching recipients and bcc adds a copy in a message of its own', async () => {
    await create({
      ...when('recipient', 'equals', 'old@globex.test'),
      ...act('redirect', { address: 'New@globex.test' }),
    })
    await create({ ...any, ...act('bcc', { address: 'archive@acme.test' }) })
    const recipients = ['Old@globex.test', 'grace@globex.test']
    const messages = mailsOf(await stage.apply(passing({ recipients })))
    expect(messages.map((one) => one.recipients)).toEqual([
      ['new@globex.test', 'archive@acme.test'],
      ['grace@globex.test'],
      ['archive@acme.test'],
    ])
    const plain = messages[1]?.message.raw as Buffer
    expect(plain.equals(EXAMPLE)).toBe(true)
    expect(messages[2]?.message.raw.toString('latin1')).toMatch(/^X-Svc-Rule-Loop: /)
  })

  it('runs in the order of priorities and stops at quarantine', async () => {
    const order = (name: string, priority: number) =>
      create({ ...any, ...act('add_header', { name: `X-${name}`, value: 'x' }), priority })
    await order('Third', 30)
    await order('First', 10)
    await create({ ...any, ...act('quarantine'), priority: 20 })
    expect(await stage.apply(passing())).toEqual({ kind: 'held' })
    await app.core.db.deleteFrom('transport_rules').where('priority', '=', 20).execute()
    const [message] = mailsOf(await stage.apply(passing()))
    expect(message?.message.raw.toString('latin1')).toMatch(/^X-Third: x\r\nX-First: x\r\n/)
  })

  it('adds a header to a message that cannot be parsed', async () => {
    await create({ ...any, ...mark })
    const raw = manyParts(600)
    const [message] = mailsOf(await stage.apply(passing({ raw })))
    expect(message?.message.raw.equals(Buffer.concat([mail('X-Mark: yes', ''), raw]))).toBe(true)
  })
})

describe('transport rule loop', () => {
  const any = when('size', 'greater_than', '0')

  it('ends when a message returns to a rule that has forwarded it', async () => {
    await create({ ...any, ...act('redirect', { address: 'away@elsewhere.test' }) })
    const [first] = mailsOf(await stage.apply(passing()))
    expect(first?.recipients).toEqual(['away@elsewhere.test'])
    const back = passing({
      direction: 'inbound',
      recipients: ['grace@acme.test'],
      raw: first?.message.raw as Buffer,
    })
    const [second] = mailsOf(await stage.apply(back))
    expect(second?.recipients).toEqual(['grace@acme.test'])
  })

  it('ignores a trace header that is forged or copied from another message', async () => {
    const { id } = await create({ ...any, ...act('bcc', { address: 'archive@acme.test' }) })
    const isCopied = async (raw: Buffer) =>
      mailsOf(await stage.apply(passing({ raw }))).length === 2
    const forged = mail(`X-Svc-Rule-Loop: ${id}; ${'0'.repeat(64)}`, 'Message-ID: <a@b>', '', '')
    expect(await isCopied(forged)).toBe(true)
    const [, copy] = mailsOf(await stage.apply(passing()))
    const trace = /X-Svc-Rule-Loop: .*/.exec(
      copy?.message.raw.toString('latin1') ?? '',
    )?.[0] as string
    expect(await isCopied(mail(trace, 'Message-ID: <other@b>', '', ''))).toBe(true)
    expect(await isCopied(mail(trace, 'Message-ID: <one@acme.test>', '', ''))).toBe(false)
  })

  it('ends after five hops through different rules', async () => {
    let message = passing()
    let hops = 0
    for (; hops < 20; hops++) {
      await app.core.db.deleteFrom('transport_rules').execute()
      await create({ ...any, ...act('redirect', { address: `hop${hops}@elsewhere.test` }) })
      const [next] = mailsOf(await stage.apply(message))
      if (next?.recipients[0] === 'grace@globex.test') break
      message = passing({ raw: next?.message.raw as Buffer })
    }
    expect(hops).toBe(5)
  })
})

describe('transport rule hit count', () => {
  const hits = async (id: string) => (await acme.get(PATH + id)).body.data.hit_count

  it('is stored within seconds with one event per message', async () => {
    const { id } = await create({ ...when('subject', 'contains', 'hello'), ...mark })
    await Promise.all(Array.from({ length: 20 }, () => stage.apply(passing())))
    await waitFor(async () => (await hits(id)) === 20)
    const events = await app.core.db
      .selectFrom('events')
      .selectAll()
      .where('event', '=', 'transport_rule.triggered')
      .execute()
    const mine = events.filter(({ data }) => (data as { rule_id: string }).rule_id === id)
    expect(mine).toHaveLength(20)
    expect(mine[0]).toMatchObject({
      org_id: acme.organizationId,
      data: { name: 'Rule', message_id: '<one@acme.test>' },
    })
  })

  it('is stored when the stage stops', async () => {
    const { id } = await create({ ...when('subject', 'contains', 'hello'), ...mark })
    const stopping = transportRulesStage(app.core)
    await stopping.apply(passing())
    await stopping.stop()
    expect(await hits(id)).toBe(1)
  })

  it('is stored for the other rules when a counted rule was deleted', async () => {
    const deleted = await create({ ...when('subject', 'contains', 'hello'), ...mark })
    const stays = await create({ ...when('subject', 'contains', 'hello'), ...mark })
    await stage.apply(passing())
    await acme.delete(PATH + deleted.id)
    await stage.flush()
    expect(await hits(stays.id)).toBe(1)
  })
})
