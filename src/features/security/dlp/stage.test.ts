import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { mail, manyParts, SHAPES } from '../../../../test/support/messages.ts'
import { type Sunk, startSink } from '../../../../test/support/smtp-sink.ts'
import type { Mail } from '../../../content/stage.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { MimeMessage } from '../../../mime/message.ts'
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
const EXAMPLE = mail(
  'From: ada@acme.test',
  'Subject: Hi',
  'Message-ID: <m@acme.test>',
  '',
  CARD,
  '',
)
type GivenMail = Partial<Mail> & { raw?: Buffer }
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
const kindOf = async (more: GivenMail = {}) => (await stage.apply(passing(more))).kind
const violations = () =>
  app.core.db.selectFrom('dlp_violations').selectAll().orderBy('id').execute()
const text = (body: string, ...headers: string[]) =>
  passing({ raw: mail(...headers, '', body, '') })

describe('DLP scan', () => {
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
      'wide digits with a zero-width space between',
      Buffer.from('Subject: x\r\n\r\n４１１１\u200b1111 1111 1111'),
    ],
    [
      'a part after a boundary with trailing spaces',
      mail(
        'Content-Type: multipart/mixed; boundary=b',
        '',
        '--b ',
        'Content-Type: text/plain',
        '',
        CARD,
        '--b--',
        '',
      ),
    ],
    ['the end of a very long text', mail('', 'lorem ipsum dolor\r\n'.repeat(50_000), CARD)],
    ['the end of a very long line', mail('', 'x '.repeat(300_000) + CARD)],
  ])('finds a card number in %s', async (_, raw) => {
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
  ])('tests %s', async (_, policy_type, patterns, said, matches) => {
    await create({ policy_type, patterns })
    expect(await kindOf(text(said))).toBe(matches ? 'reject' : 'pass')
  })

  it.each<[string, string, boolean]>([
    ['pdf', 'text, HTML and an attachment', true],
    ['application/pdf', 'only an attachment', true],
    ['exe', 'only an attachment', false],
    ['pdf', '8-bit Latin-1', false],
  ])('tests file type %s in: %s', async (pattern, shape, matches) => {
    await create({ policy_type: 'file_type', patterns: [pattern] })
    expect(await kindOf({ raw: SHAPES[shape] as Buffer })).toBe(matches ? 'reject' : 'pass')
  })

  it.each(Object.entries(SHAPES))(
    'passes a message without a match unchanged: %s',
    async (_, raw) => {
      await create({ policy_type: 'keyword', patterns: ['nowhere to be found'] })
      const message = passing({ raw })
      expect(await stage.apply(message)).toEqual({ kind: 'pass', mails: [message] })
      expect(await violations()).toEqual([])
    },
  )

  it('applies a policy only to its direction and its organization', async () => {
    await create({ apply_to: 'inbound' })
    expect(await kindOf()).toBe('pass')
    expect(await kindOf({ direction: 'inbound' })).toBe('reject')
    const other = await app.tenant(`other${++made}`)
    expect(await kindOf({ direction: 'inbound', organizationId: other.organizationId })).toBe(
      'pass',
    )
  })

  it('applies a policy from the next message until it is disabled', async () => {
    const { id } = await create()
    expect(await kindOf()).toBe('reject')
    await admin.put(`${POLICIES}/${id}`, { enabled: false, reason: 'x' })
    expect(await kindOf()).toBe('pass')
    await admin.put(`${POLICIES}/${id}`, { enabled: true, patterns: ['iban'], reason: 'x' })
    expect(await kindOf()).toBe('pass')
  })
})

describe('DLP action', () => {
  it('block rejects the message and names the policy but not the matched text', async () => {
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

  it('quarantine holds the message for each recipient and records the violation', async () => {
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

  it('quarantine records no violation when the message cannot be held', async () => {
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

  it('encrypt rejects a message that is not encrypted', async () => {
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

  it('notify passes the message and notifies the administrators once in five minutes', async () => {
    const { name } = await create({ action: 'notify' })
    sent.length = 0
    for (let times = 0; times < 3; times++) expect(await kindOf()).toBe('pass')
    expect(await violations()).toHaveLength(3)
    await stage.settled()
    expect(sent).toHaveLength(1)
    expect(sent[0]?.to).toEqual([acme.email])
    expect(sent[0]?.data).toContain(name)
    expect(JSON.stringify(sent)).not.toContain('1111')
    app.clock.advance(6 * MINUTE_MS)
    await stage.apply(passing())
    await stage.settled()
    expect(sent).toHaveLength(2)
  })

  it('B2.8: a notice carries the brand of its organization, and of no other', async () => {
    const globex = await app.tenant('globex')
    const policies = { [acme.organizationId]: acme, [globex.organizationId]: globex }
    for (const organization_id of Object.keys(policies)) {
      await create({ action: 'notify', organization_id })
    }
    const brand = {
      brand_name: 'Acme Mail',
      support_email: 'help@acme.test',
      support_url: 'https://help.acme.test',
    }
    const path = `/api/v1/whitelabel/config/${acme.organizationId}`
    expect((await admin.put(path, brand)).status).toBe(200)
    sent.length = 0
    await stage.apply(passing())
    await stage.apply(passing({ organizationId: globex.organizationId }))
    await stage.settled()
    const [branded] = sent.filter(({ to }) => to.includes(acme.email))
    expect(branded?.data).toMatch(/^From: "?Acme Mail"? </m)
    for (const line of Object.values(brand)) expect(branded?.data).toContain(line)
    const [plain] = sent.filter(({ to }) => to.includes(globex.email))
    expect(plain?.data).toContain('violates a data protection policy')
    expect(plain?.data).not.toContain('Acme')
  })

  it('notify passes the message when the notice cannot be sent', async () => {
    await create({ action: 'notify' })
    await sink.stop()
    const failing = dlpStage(app.core)
    expect((await failing.apply(passing())).kind).toBe('pass')
    await failing.stop()
    expect(await violations()).toMatchObject([{ action_taken: 'notify' }])
  })

  it('log_only passes the message and records the violation', async () => {
    await create({ action: 'log_only' })
    const message = passing()
    expect(await stage.apply(message)).toEqual({ kind: 'pass', mails: [message] })
    expect(await violations()).toMatchObject([{ action_taken: 'log_only' }])
  })

  it('applies the strongest of several actions and records every violation', async () => {
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

describe('DLP scan of a message that cannot be examined', () => {
  it('rejects the message with the reason when a policy blocks', async () => {
    await create()
    const outcome = await stage.apply(passing({ raw: manyParts(600) }))
    expect(outcome).toMatchObject({
      kind: 'reject',
      text: expect.stringContaining('could not be examined'),
    })
    expect(await violations()).toMatchObject([{ violation_type: 'not_examined', has_match: false }])
  })

  it('holds the message when a policy quarantines and passes it when a policy only logs', async () => {
    const { id } = await create({ action: 'quarantine' })
    expect(await kindOf({ raw: manyParts(600) })).toBe('held')
    await admin.put(`${POLICIES}/${id}`, { action: 'log_only', reason: 'x' })
    expect(await kindOf({ raw: manyParts(600) })).toBe('pass')
  })

  it('rejects a message whose scan exceeds the time limit', async () => {
    await create({ policy_type: 'regex', patterns: ['(a|b)*a(a|b){40}c'] })
    const hurried = dlpStage(app.core, { timeLimitMs: 100 })
    // Random text keeps the expression in many states, which makes it slow.
    const raw = mail('', [...randomBytes(400_000)].map((byte) => 'ab'[byte % 2]).join(''))
    expect(await hurried.apply(passing({ raw }))).toMatchObject({
      kind: 'reject',
      text: expect.stringContaining('in time'),
    })
    await hurried.stop()
  })
})
