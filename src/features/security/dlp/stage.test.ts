import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { mail, manyParts, SHAPES } from '../../../../test/support/messages.ts'
import { type Sunk, startSink } from '../../../../test/support/smtp-sink.ts'
import type { Passing } from '../../../content/stage.ts'
import { type DlpStage, dlpStage } from './stage.ts'

const POLICIES = '/api/v1/security/dlp/policies'
const CARD = '4111 1111 1111 1111'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let admin: Awaited<ReturnType<App['operator']>>
let stage: DlpStage
let sink: Awaited<ReturnType<typeof startSink>>
let sent: Sunk[]
beforeAll(async () => {
  sink = await startSink()
  sent = sink.got
  app = await startApp({ env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(sink.port) } })
  acme = await app.tenant('acme')
  admin = await app.operator('admin')
  stage = dlpStage(app.core)
})
afterAll(async () => {
  await stage.stop()
  await app.stop()
  await sink.stop()
})
beforeEach(async () => {
  for (const table of ['dlp_policies', 'dlp_violations', 'quarantine', 'events'] as const) {
    await sql`delete from ${sql.table(table)}`.execute(app.core.db)
  }
})

let made = 0
const create = async (more: object = {}) => {
  const answer = await admin.post(POLICIES, {
    organization_id: acme.organizationId,
    name: `Policy ${++made}`,
    policy_type: 'pii',
    patterns: ['credit_card'],
    action: 'block',
    severity: 'high',
    reason: 'test',
    ...more,
  })
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data as { id: number; name: string }
}
const passing = (more: Partial<Passing> = {}): Passing => ({
  direction: 'outbound',
  organizationId: acme.organizationId,
  sender: 'ada@acme.test',
  recipients: ['grace@globex.test'],
  login: 'ada@acme.test',
  clientIp: '192.0.2.7',
  raw: mail('From: ada@acme.test', 'Subject: Hi', 'Message-ID: <m@acme.test>', '', CARD, ''),
  ...more,
})
const kindOf = async (more: Partial<Passing> = {}) => (await stage.apply(passing(more))).kind
const violations = () =>
  app.core.db.selectFrom('dlp_violations').selectAll().orderBy('id').execute()
const text = (body: string, ...headers: string[]) =>
  passing({ raw: mail(...headers, '', body, '') })

describe('what is found', () => {
  const part = (...lines: string[]) =>
    mail('Content-Type: multipart/mixed; boundary=b', '', '--b', ...lines, '--b--', '')
  const base64 = (said: string, charset: BufferEncoding = 'utf8') =>
    Buffer.from(said, charset).toString('base64')

  it.each<[string, Buffer]>([
    ['the subject', mail(`Subject: ${CARD}`, '', '')],
    ['an encoded subject', mail(`Subject: =?utf-8?b?${base64(CARD)}?=`, '', '')],
    ['the text', mail('', `My card: ${CARD}.`)],
    ['base64', part('Content-Transfer-Encoding: base64', '', base64(CARD))],
    [
      'quoted-printable',
      part('Content-Transfer-Encoding: quoted-printable', '', '4111 =', '1111 1111 11=311'),
    ],
    [
      'UTF-16',
      part(
        'Content-Type: text/plain; charset=utf-16le',
        'Content-Transfer-Encoding: base64',
        '',
        base64(CARD, 'utf16le'),
      ),
    ],
    [
      'HTML, cut up by tags',
      part('Content-Type: text/html', '', '4111 <b>1111</b> 11<i>11</i> 11&#49;1'),
    ],
    [
      'a text file',
      part(
        'Content-Type: text/csv; name=cards.csv',
        'Content-Disposition: attachment',
        '',
        `a,${CARD}`,
      ),
    ],
    ['an attached message', part('Content-Type: message/rfc822', '', 'Subject: x', '', CARD)],
    [
      'an attached message in base64',
      part(
        'Content-Type: message/rfc822',
        'Content-Transfer-Encoding: base64',
        '',
        base64(`Subject: x\r\n\r\n${CARD}`),
      ),
    ],
    [
      'wide digits with nothing between',
      Buffer.from('Subject: x\r\n\r\n４１１１\u200b1111 1111 1111'),
    ],
    ['the end of very much text', mail('', 'lorem ipsum dolor\r\n'.repeat(50_000), CARD)],
    ['the end of a very long line', mail('', 'x '.repeat(300_000) + CARD)],
  ])('in %s', async (_, raw) => {
    await create()
    expect(await kindOf({ raw })).toBe('reject')
    expect(await violations()).toMatchObject([{ violation_type: 'credit_card', has_match: true }])
  })

  it.each<[string, string, string[], string, boolean]>([
    ['keyword', 'keyword', ['Project Zeus'], 'about project\r\nzeus', true],
    ['part of a word', 'keyword', ['zeus'], 'zeuses', false],
    ['regex', 'regex', ['zeus-\\d{3}'], 'Zeus-123', true],
    ['iban', 'pii', ['iban'], 'DE89 3704 0044 0532 0130 00', true],
    ['a wrong iban', 'pii', ['iban'], 'DE88 3704 0044 0532 0130 00', false],
  ])('by %s', async (_, policy_type, patterns, said, found) => {
    await create({ policy_type, patterns })
    expect(await kindOf(text(said))).toBe(found ? 'reject' : 'pass')
  })

  it.each<[string, string, boolean]>([
    ['pdf', 'text, HTML and an attachment', true],
    ['application/pdf', 'only an attachment', true],
    ['exe', 'only an attachment', false],
    ['pdf', '8-bit Latin-1', false],
  ])('file type %s in: %s', async (pattern, shape, found) => {
    await create({ policy_type: 'file_type', patterns: [pattern] })
    expect(await kindOf({ raw: SHAPES[shape] as Buffer })).toBe(found ? 'reject' : 'pass')
  })

  it.each(Object.entries(SHAPES))('is nothing in a message without it: %s', async (_, raw) => {
    await create({ policy_type: 'keyword', patterns: ['nowhere to be found'] })
    const message = passing({ raw })
    expect(await stage.apply(message)).toEqual({ kind: 'pass', messages: [message] })
    expect(await violations()).toEqual([])
  })

  it('counts in the direction the policy is for, and for its organization only', async () => {
    await create({ apply_to: 'inbound' })
    expect(await kindOf()).toBe('pass')
    expect(await kindOf({ direction: 'inbound' })).toBe('reject')
    const other = await app.tenant(`other${++made}`)
    expect(await kindOf({ direction: 'inbound', organizationId: other.organizationId })).toBe(
      'pass',
    )
  })

  it('counts from the next message on, and no longer when the policy is off', async () => {
    const { id } = await create()
    expect(await kindOf()).toBe('reject')
    await admin.put(`${POLICIES}/${id}`, { enabled: false, reason: 'x' })
    expect(await kindOf()).toBe('pass')
    await admin.put(`${POLICIES}/${id}`, { enabled: true, patterns: ['iban'], reason: 'x' })
    expect(await kindOf()).toBe('pass')
  })
})

describe('what is done', () => {
  it('block: the sender is told by which policy, and not what was found', async () => {
    const { id, name } = await create()
    expect(await stage.apply(passing())).toEqual({
      kind: 'reject',
      text: `Policy "${name}": the message holds data that must not be sent`,
    })
    const [row] = await violations()
    expect(row).toMatchObject({
      policy_id: id,
      message_id: '<m@acme.test>',
      sender: 'ada@acme.test',
      recipient: 'grace@globex.test',
      action_taken: 'block',
      severity: 'high',
      matched_pattern: 'credit_card',
      details: { where: 'body' },
    })
    const events = await app.core.db
      .selectFrom('events')
      .selectAll()
      .where('event', '=', 'security.dlp.violation')
      .execute()
    expect(events).toMatchObject([
      {
        source: 'dlp',
        org_id: acme.organizationId,
        domain: 'acme.test',
        data: { policy_name: name, action_taken: 'block', violation_type: 'credit_card' },
      },
    ])
    expect(JSON.stringify([row, events])).not.toContain('1111')
  })

  it('quarantine: kept back for each recipient, together with the violation', async () => {
    const { id } = await create({ action: 'quarantine' })
    const recipients = ['grace@globex.test', 'gus@globex.test']
    expect(await kindOf({ recipients })).toBe('held')
    const held = await app.core.db
      .selectFrom('quarantine')
      .selectAll()
      .orderBy('recipient')
      .execute()
    expect(held).toMatchObject(
      recipients.map((recipient) => ({ recipient, reason: 'policy', rule_id: String(id) })),
    )
    expect(await violations()).toMatchObject([
      { action_taken: 'quarantine', recipient: 'grace@globex.test, gus@globex.test' },
    ])
  })

  it('quarantine: nothing of it is stored when it cannot be kept back', async () => {
    await create({ action: 'quarantine' })
    await sql`alter table quarantined_messages add constraint full_up check (false) not valid`.execute(
      app.core.db,
    )
    try {
      await expect(stage.apply(passing())).rejects.toThrow()
      expect(await violations()).toEqual([])
    } finally {
      await sql`alter table quarantined_messages drop constraint full_up`.execute(app.core.db)
    }
  })

  it('encrypt: sent back unless it is sealed already', async () => {
    await create({ action: 'encrypt', policy_type: 'keyword', patterns: ['hello'] })
    const outcome = await stage.apply(passing({ raw: SHAPES['8-bit Latin-1'] as Buffer }))
    expect(outcome).toMatchObject({
      kind: 'reject',
      text: expect.stringContaining('S/MIME or OpenPGP'),
    })
    expect(await violations()).toMatchObject([{ action_taken: 'encrypt' }])
    for (const shape of ['encrypted with OpenPGP', 'encrypted with S/MIME']) {
      expect(await kindOf({ raw: SHAPES[shape] as Buffer })).toBe('pass')
    }
    expect(await kindOf({ raw: SHAPES['signed with S/MIME'] as Buffer })).toBe('reject')
  })

  it('notify: passed on, and the administrators are told once for a while', async () => {
    const { name } = await create({ action: 'notify' })
    sent.length = 0
    for (let times = 0; times < 3; times++) expect(await kindOf()).toBe('pass')
    expect(await violations()).toHaveLength(3)
    await stage.settled()
    expect(sent).toHaveLength(1)
    expect(sent[0]?.to).toEqual([acme.email])
    expect(sent[0]?.data).toContain(name)
    expect(JSON.stringify(sent)).not.toContain('1111')
    app.clock.advance(6 * 60_000)
    await stage.apply(passing())
    await stage.settled()
    expect(sent).toHaveLength(2)
  })

  it('notify: a mail server that is away holds up nothing', async () => {
    await create({ action: 'notify' })
    await sink.stop()
    const failing = dlpStage(app.core)
    expect((await failing.apply(passing())).kind).toBe('pass')
    await failing.stop()
    expect(await violations()).toMatchObject([{ action_taken: 'notify' }])
  })

  it('log_only: passed on and written down', async () => {
    await create({ action: 'log_only' })
    const message = passing()
    expect(await stage.apply(message)).toEqual({ kind: 'pass', messages: [message] })
    expect(await violations()).toMatchObject([{ action_taken: 'log_only' }])
  })

  it('the strongest of several, and each is written down', async () => {
    await create({ action: 'log_only' })
    await create({ action: 'quarantine' })
    await create({ action: 'block' })
    expect(await kindOf()).toBe('reject')
    expect((await violations()).map((one) => one.action_taken)).toEqual([
      'log_only',
      'block',
      'block',
    ])
    expect(await app.core.db.selectFrom('quarantine').selectAll().execute()).toEqual([])
  })
})

describe('what cannot be examined', () => {
  it('is not let through where a policy would block, and says why', async () => {
    await create()
    const outcome = await stage.apply(passing({ raw: manyParts(600) }))
    expect(outcome).toMatchObject({
      kind: 'reject',
      text: expect.stringContaining('could not be examined'),
    })
    expect(await violations()).toMatchObject([{ violation_type: 'not_examined', has_match: false }])
  })

  it('is kept back where a policy would, and passes where it is only logged', async () => {
    const { id } = await create({ action: 'quarantine' })
    expect(await kindOf({ raw: manyParts(600) })).toBe('held')
    await admin.put(`${POLICIES}/${id}`, { action: 'log_only', reason: 'x' })
    expect(await kindOf({ raw: manyParts(600) })).toBe('pass')
  })

  it('is also what takes too long', async () => {
    await create({ policy_type: 'regex', patterns: ['(a|b)*a(a|b){40}c'] })
    const hurried = dlpStage(app.core, { timeLimitMs: 100 })
    // Without a pattern of its own: the expression has to keep track of all that it may yet become.
    const raw = mail('', [...randomBytes(400_000)].map((byte) => 'ab'[byte % 2]).join(''))
    const begun = performance.now()
    expect(await hurried.apply(passing({ raw }))).toMatchObject({
      kind: 'reject',
      text: expect.stringContaining('in time'),
    })
    expect(performance.now() - begun).toBeLessThan(10_000)
    await hurried.stop()
  })
})
