import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEMPLATES } from '../../src/features/filters/templates.ts'
import { blockedSenders } from '../../src/sieve/blocked-senders.ts'
import { dryRun, type Message, type Settings } from '../../src/sieve/dry-run.ts'
import { forwarding } from '../../src/sieve/forwarding.ts'
import { COMPONENTS, mainScript } from '../../src/sieve/main-script.ts'
import { type Action, type Condition, type Rule, rules } from '../../src/sieve/rules.ts'
import { type Vacation, vacation } from '../../src/sieve/vacation.ts'
import { sieveMissing } from '../support/dovecot-sieve.ts'
import { sieveTools } from '../support/sieve-tools.ts'

const missing = sieveMissing()
const OWN = 'jane@acme.test'

/** Text that tries to break out of a Sieve string. */
const HOSTILE = [
  'say "friend"',
  '"; discard; #',
  '\\"; discard; #',
  '\\\\"; discard; stop; "',
  'ends in a backslash\\',
  '"];\r\nredirect "thief@elsewhere.test";\r\n#',
  'text:\r\n.\r\ndiscard;\r\n',
  '/* comment */ # comment',
  '*/ discard; /*',
  '# svc-rule: {"id":"x"}',
  '\r\n# svc-vacation: {"enabled":true}\r\n',
  '$' + '{hex: 41} $' + '{unicode: 22} $' + '{0}',
  'a\rb\nc\r\nd',
  '\u0001\u0008\u007f\u0085\u2028\u2029\ufeff',
  'ünïcödé 密码 🔑 e\u0301',
  '{10}\r\n',
  '?*\\*\\?',
  ' ',
]
const PIECES = [...HOSTILE, '"', '\\', ';', '\r', '\n', ',', '[', ']', '{', '}', '<', '>', 'a', 'Ü']

/** Identical numbers in every run, so that a failure can be reproduced. */
function dice(seed: number) {
  let state = seed
  const next = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  return { next, of: <One>(some: readonly One[]) => some[next(some.length)] as One }
}
const jumble = ({ next, of }: ReturnType<typeof dice>) =>
  Array.from({ length: 1 + next(6) }, () => of(PIECES)).join('')

const rule = (conditions: Condition[], actions: Action[], more: Partial<Rule> = {}): Rule => ({
  id: 'one',
  name: 'Rule',
  match: 'all',
  conditions,
  actions,
  enabled: true,
  ...more,
})
const away = (more: Partial<Vacation>): Vacation => ({
  ...vacation.none,
  enabled: true,
  message: 'Away',
  ...more,
})

describe.skipIf(missing)(`generated scripts${missing ? `: ${missing}` : ''}`, () => {
  let tools: ReturnType<typeof sieveTools>
  beforeAll(() => {
    tools = sieveTools()
  })
  afterAll(() => tools.close())

  it('compile and do nothing while everything is disabled', () => {
    for (const script of COMPONENTS.values()) {
      expect(tools.compile(script)).toBe('')
      expect(script.replace(/^#.*\r\n/gm, '')).toBe('')
    }
  })

  it('compile with every setting of a mailbox', () => {
    const addresses = Array.from({ length: 500 }, (_, n) => `${'x'.repeat(60)}${n}@elsewhere.test`)
    const conditions = ['from', 'to', 'cc', 'subject', 'body'].flatMap((field) =>
      ['contains', 'is', 'matches'].map((operator) => ({ field, operator, value: 'x' })),
    )
    const actions = ['flag', 'mark_read', 'discard', 'move', 'forward'].map((type) => ({
      type,
      value: 'a@b.test',
    }))
    const fifty = Array.from({ length: 50 }, (_, n) =>
      rule(conditions, actions, { match: n % 2 ? 'any' : 'all' }),
    )
    expect(tools.compile(blockedSenders.write(addresses))).toBe('')
    expect(tools.compile(rules.write(fifty))).toBe('')
    for (const keep_copy of [true, false]) {
      const five = { enabled: true, addresses: addresses.slice(0, 5), keep_copy }
      expect(tools.compile(forwarding.write(five))).toBe('')
    }
    expect(tools.compile(vacation.write(away({ message: 'm'.repeat(20_000) }), OWN))).toBe('')
    const main = mainScript('a-b_c')
    expect(tools.compile(main)).toMatch(/^(0 .*does not exist.*)?$/s)
  })

  it('compile for a tenant, with every template and a responder with dates', () => {
    for (const { sieve_content } of TEMPLATES) expect(tools.compile(sieve_content)).toBe('')
    for (const text of HOSTILE) {
      const terms = { days: 3, from: '2026-01-01', to: '2026-12-31', except_domain: 'acme.test' }
      const settings = away({ subject: text, message: text, terms })
      expect(tools.compile(vacation.write(settings, OWN)), text).toBe('')
    }
  })

  const everywhere = (text: string) => {
    const named = rule(
      ['from', 'subject', 'body'].map((field) => ({ field, operator: 'matches', value: text })),
      [{ type: 'move', value: text }, { type: text, value: text }, { type: 'flag' }],
      { id: text, name: text },
    )
    const responder = away({ subject: text, message: text, start_date: text, end_date: text })
    return { named, responder }
  }

  it.each(HOSTILE)('keep hostile text inside its string and return it unchanged: %j', (text) => {
    const { named, responder } = everywhere(text)
    const ruled = rules.write([named, rule([], [])])
    const responding = vacation.write(responder, OWN)
    expect(tools.compile(ruled)).toBe('')
    expect(tools.compile(responding)).toBe('')
    expect(rules.read(ruled)).toEqual([named, rule([], [])])
    expect(vacation.read(responding)).toEqual(responder)
    const outcome = tools.test([ruled, responding], { from: 'a@b.test', to: OWN }, OWN)
    expect(outcome).toEqual({
      stored: [{ folder: 'INBOX', flags: [] }],
      forwarded_to: [],
      discarded: false,
      vacation_reply: true,
    })
  })

  it('keep random text inside its string', () => {
    const die = dice(7)
    for (let round = 0; round < 60; round++) {
      const text = jumble(die)
      const { named, responder } = everywhere(text)
      const script = rules.write([named]) // compiled with the responder, to save time
      const both = `${script}${vacation.write(responder, OWN).replace(/^require.*\r\n/m, '')}`
      const required = both.replace('require ["fileinto"', 'require ["vacation", "fileinto"')
      expect(tools.compile(required), JSON.stringify(text)).toBe('')
      expect(rules.read(script)).toEqual([named])
      expect(vacation.read(both)).toEqual(responder)
    }
  })
})

describe.skipIf(missing)(`the dry run${missing ? `: ${missing}` : ''}`, () => {
  let tools: ReturnType<typeof sieveTools>
  beforeAll(() => {
    tools = sieveTools()
  })
  afterAll(() => tools.close())

  const scriptsOf = ({ blocked, rules: some, forwarding: to, vacation: when }: Settings) => [
    blockedSenders.write(blocked),
    rules.write(some),
    forwarding.write(to),
    vacation.write(when, OWN),
  ]
  const none: Settings = {
    blocked: [],
    rules: [],
    forwarding: forwarding.none,
    vacation: vacation.none,
  }
  /** Runs both and fails the test when the results differ. */
  const agree = (message: Message, some: Partial<Settings>) => {
    const settings = { ...none, ...some }
    const { blocked, matched_rules, ...predicted } = dryRun(message, settings, OWN)
    const ordered = ({ stored, ...rest }: typeof predicted) => ({
      ...rest,
      stored: stored
        .map(({ folder, flags }) => `${folder} ${[...flags].sort().join(' ')}`)
        // The mailbox has one such folder, in any spelling.
        .map((line) => line.replace(/^inbox /i, 'INBOX '))
        .sort(),
    })
    expect(ordered(predicted), JSON.stringify({ message, some })).toEqual(
      ordered(tools.test(scriptsOf(settings), message, OWN)),
    )
    return predicted
  }

  const VALUES = [
    'jane',
    'JANE@ACME.TEST',
    'boss@work.test',
    '*@work.test',
    'B?ss*',
    'gr??e',
    'gr????e',
    'Grüße',
    'GRÜßE',
    '*\\**',
    'x\\',
    '\\?',
    'two words',
    'line\nbreak',
    'weekly report',
    '*',
    '?',
    '"Doe, Jane" <jane@acme.test>',
  ]
  const HEADERS = [
    'boss@work.test',
    'Boss <boss@work.test>',
    '"Doe, Jane" <JANE@Acme.test>',
    'jane@acme.test, Boss <boss@work.test>',
    'two words (a comment) <a@b.test>',
    'Team: boss@work.test, a@b.test;',
    'x\\',
    '  weekly   report  ',
    'Grüße *',
    '',
  ]
  const BODIES = ['two words', 'line\nbreak\n', 'Grüße an alle', 'x * y', '', 'weekly report\n']

  it('agrees with Pigeonhole for every operator, field and kind of text', () => {
    const die = dice(11)
    for (let round = 0; round < 220; round++) {
      const conditions = Array.from({ length: 1 + die.next(2) }, () => ({
        field: die.of(['from', 'to', 'cc', 'subject', 'body', 'nonsense']),
        operator: die.of(['contains', 'is', 'matches', undefined as never]),
        value: die.of([...VALUES, ...HEADERS]),
      }))
      const message = {
        ...(die.next(8) && { from: die.of(HEADERS.filter((one) => one.includes('@'))) }),
        ...(die.next(4) && { to: die.of(HEADERS.filter((one) => one.includes('@'))) }),
        ...(die.next(2) && { cc: die.of(HEADERS.filter((one) => one.includes('@'))) }),
        subject: die.of(HEADERS),
        body: die.of(BODIES),
      }
      agree(message, {
        rules: [
          rule(conditions, [{ type: 'move', value: 'Hit' }], { match: die.of(['all', 'any']) }),
        ],
      })
    }
  })

  it('agrees with Pigeonhole for every combination of actions', () => {
    const die = dice(13)
    const ACTIONS: Action[] = [
      { type: 'flag' },
      { type: 'mark_read' },
      { type: 'discard' },
      { type: 'move', value: 'Work' },
      { type: 'move', value: 'inbox' },
      { type: 'move', value: 'Größe' },
      { type: 'forward', value: 'a@b.test' },
      { type: 'forward', value: 'A@B.test' },
      { type: 'forward' },
      { type: 'nonsense' },
    ]
    const message = { from: 'boss@work.test', to: OWN, subject: 'hello' }
    for (let round = 0; round < 150; round++) {
      const some = Array.from({ length: die.next(4) }, (_, n) =>
        rule(
          [{ field: 'subject', value: die.of(['hello', 'hello', 'other', '']) }],
          Array.from({ length: 1 + die.next(3) }, () => die.of(ACTIONS)),
          { id: String(n), enabled: die.next(6) > 0 },
        ),
      )
      agree(message, {
        rules: some,
        blocked: die.next(5) ? ['other@work.test'] : ['boss@work.test'],
        forwarding: {
          enabled: die.next(2) === 0,
          addresses: die.of([[], ['a@b.test'], ['c@d.test', 'e@f.test']]),
          keep_copy: die.next(2) === 0,
        },
        vacation: away({ enabled: die.next(2) === 0 }),
      })
    }
  })

  it('reports actions that apply and omits those that do not', () => {
    const move = rule([{ field: 'subject', value: 'hello' }], [{ type: 'move', value: 'Work' }])
    const message = { from: 'Boss <boss@work.test>', to: OWN, subject: 'Hello there' }
    expect(agree(message, { rules: [move] }).stored).toEqual([{ folder: 'Work', flags: [] }])
    expect(agree({ ...message, subject: 'x' }, { rules: [move] }).stored[0]?.folder).toBe('INBOX')
    expect(agree(message, { blocked: ['boss@work.test'], rules: [move] }).stored).toEqual([
      { folder: 'Junk', flags: [] },
    ])
    expect(agree(message, { vacation: away({}) }).vacation_reply).toBe(true)
  })
})
