import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { MAILBOX, startWithSieve } from '../../../../test/support/holders.ts'

const PATH = `${MAILBOX}/rules`

let world: Awaited<ReturnType<typeof startWithSieve>>
beforeAll(async () => {
  world = await startWithSieve()
})
afterAll(() => world.stop())

const hello = { field: 'subject', operator: 'contains', value: 'hello' }
const move = { type: 'move', value: 'Work' }

describe('mailbox rules', () => {
  it('are rejected when there are more than 50', async () => {
    const jane = await world.holder('many')
    const rules = Array.from({ length: 51 }, () => ({}))
    expect(await jane.put(PATH, { rules })).toMatchObject({
      status: 422,
      body: { type: 'error', msg: 'At most 50 rules' },
    })
    expect((await jane.put(PATH, { rules: rules.slice(1) })).status).toBe(200)
  })

  it.each([
    { rules: 'all' },
    { rules: [7] },
    { rules: [{ conditions: hello }] },
    { rules: [{ conditions: [{ ...hello, value: 7 }] }] },
    { rules: [{ conditions: [{ ...hello, value: 'x'.repeat(2001) }] }] },
    { rules: [{ actions: [{ type: 'x'.repeat(65) }] }] },
    { rules: [{ name: 'x'.repeat(256) }] },
    { rules: [{ enabled: 'false' }] },
  ])('are rejected when they are malformed: case %#', async (body) => {
    const jane = await world.holder('malformed')
    expect(await jane.put(PATH, body)).toMatchObject({ status: 422, body: { detail: [{}] } })
    expect(jane.scripts.scripts.size).toBe(0)
  })

  it.each([
    ['an invalid address', 'x"; discard; "@b.test', /it is no address/],
    ['the mailbox itself', ' ADMIN@forward.test', /cannot forward to itself/],
  ])('are rejected when they forward to %s', async (_what, value, msg) => {
    const jane = await world.holder('forward')
    const rules = [{ conditions: [hello], actions: [{ type: 'forward', value }] }]
    expect(await jane.put(PATH, { rules })).toMatchObject({
      status: 422,
      body: { msg: expect.stringMatching(msg) },
    })
  })

  it('are an empty list before the first save', async () => {
    const jane = await world.holder('never')
    expect(await jane.get(PATH)).toMatchObject({
      status: 200,
      body: { msg: 'Rules retrieved successfully', data: { rules: [], managed: true } },
    })
  })

  it('get defaults, are stored as returned and keep their order', async () => {
    const jane = await world.holder('saved')
    const rules = [
      { name: '"quoted"\n# svc-rule: {}', match: 'any', conditions: [hello], actions: [move] },
      { id: 'mine', name: '', match: 'ANY', conditions: [], actions: [], enabled: false },
      {
        conditions: [{ field: 'x-spam', value: 'yes' }, { value: null }],
        actions: [{ type: 'flag' }],
      },
    ]
    const saved = await jane.put(PATH, { rules })
    expect(saved).toMatchObject({ status: 200, body: { msg: 'Rules saved' } })
    expect(saved.body.data).toEqual({
      rules: [
        { ...rules[0], id: expect.stringMatching(/^[0-9A-Z]{26}$/), enabled: true },
        { ...rules[1], name: 'Rule', match: 'all' },
        { ...rules[2], id: expect.any(String), name: 'Rule', match: 'all', enabled: true },
      ],
      managed: true,
    })
    expect((await jane.get(PATH)).body.data).toEqual(saved.body.data)
    expect(jane.scripts.scripts.get('svc-rules')?.match(/^# svc-rule: /gm)).toHaveLength(3)
    await jane.put(PATH, { rules: [] })
    expect((await jane.get(PATH)).body.data).toEqual({ rules: [], managed: true })
  })

  it('are written as Sieve only as far as they are usable', async () => {
    const jane = await world.holder('emitted')
    const script = async (...rules: object[]) => {
      await jane.put(PATH, { rules })
      const written = jane.scripts.scripts.get('svc-rules') ?? ''
      return written.split('\r\n').filter((line) => line !== '' && !line.startsWith('#'))
    }
    for (const unusable of [
      { conditions: [hello], actions: [] },
      { conditions: [], actions: [move] },
      { conditions: [{ ...hello, value: '' }], actions: [move] },
      { conditions: [{ ...hello, field: 'x-spam' }], actions: [move] },
      {
        conditions: [hello],
        actions: [{ type: 'move', value: ' ' }, { type: 'forward' }, { type: 'x' }],
      },
      { conditions: [hello], actions: [move], enabled: false },
    ]) {
      expect(await script(unusable)).toEqual([])
    }
    expect(
      await script({
        conditions: [{ ...hello, operator: 'like' }],
        actions: [move, { type: 'flag' }],
      }),
    ).toEqual([
      'require ["fileinto", "imap4flags", "mailbox"];',
      'if header :contains "subject" "hello" {',
      '  addflag "\\\\Flagged";',
      '  fileinto :create "Work";',
      '}',
    ])
    const body = { field: 'body', operator: 'matches', value: 'a*' }
    const forward = { type: 'forward', value: 'a@b.test' }
    expect(await script({ match: 'any', conditions: [hello, body], actions: [forward] })).toEqual([
      'require ["fileinto", "imap4flags", "body", "copy"];',
      'if anyof (header :contains "subject" "hello", body :text :matches "a*") {',
      '  redirect :copy "a@b.test";',
      '}',
    ])
  })
})

describe('a dry run of mailbox rules', () => {
  const TEST = `${PATH}/test`
  const message = { from: 'Boss <boss@work.test>', to: 'admin@dry.test', subject: 'Hello there' }
  const nothing = {
    blocked: false,
    matched_rules: [],
    stored: [{ folder: 'INBOX', flags: [] }],
    forwarded_to: [],
    discarded: false,
    vacation_reply: false,
  }

  it('returns the effect of all stored settings and changes no script', async () => {
    const jane = await world.holder('dry')
    const test = async (body: object) => (await jane.post(TEST, body)).body.data
    expect(await test(message)).toEqual(nothing)
    const rules = [
      { id: 'one', name: 'Work', conditions: [hello], actions: [move, { type: 'mark_read' }] },
    ]
    await jane.put(PATH, { rules })
    await jane.put(`${MAILBOX}/forwarding`, { enabled: true, addresses: ['a@b.test'] })
    await jane.put(`${MAILBOX}/vacation`, { enabled: true, message: 'Away' })
    await jane.post(`${MAILBOX}/blocked-senders`, { address: 'noise@work.test' })
    const before = new Map(jane.scripts.scripts)
    expect(await jane.post(TEST, message)).toMatchObject({
      status: 200,
      body: {
        msg: 'Rules tested',
        data: {
          ...nothing,
          matched_rules: [{ id: 'one', name: 'Work' }],
          stored: [{ folder: 'Work', flags: ['\\Seen'] }],
          forwarded_to: ['a@b.test'],
          vacation_reply: true,
        },
      },
    })
    expect(await test({ ...message, to: 'list@work.test', subject: 'x' })).toEqual({
      ...nothing,
      forwarded_to: ['a@b.test'],
    })
    expect(await test({ ...message, from: 'NOISE@work.test' })).toEqual({
      ...nothing,
      blocked: true,
      stored: [{ folder: 'Junk', flags: [] }],
    })
    expect(jane.scripts.scripts).toEqual(before)
  })

  it('evaluates the rules of the request without storing them', async () => {
    const jane = await world.holder('tried')
    const rules = [{ name: 'Gone', conditions: [hello], actions: [{ type: 'discard' }] }]
    const answer = await jane.post(TEST, { ...message, rules })
    expect(answer.body.data).toMatchObject({
      matched_rules: [{ name: 'Gone' }],
      stored: [],
      discarded: true,
    })
    expect((await jane.get(PATH)).body.data.rules).toEqual([])
    const many = Array.from({ length: 51 }, () => ({}))
    expect((await jane.post(TEST, { rules: many })).status).toBe(422)
  })
})

describe('testing mailbox rules with expensive patterns (S3)', () => {
  const body = 'a'.repeat(200_000)
  const rulesWith = (value: string, count: number) =>
    Array.from({ length: count }, () => ({
      match: 'any',
      conditions: Array(20).fill({ field: 'body', operator: 'matches', value }),
      actions: [{ type: 'flag' }],
    }))

  it('answers for 20 wildcard conditions on 200 kB', async () => {
    const jane = await world.holder('expensive')
    const answer = await jane.post(`${PATH}/test`, {
      body,
      rules: rulesWith(`*${'a'.repeat(1900)}b*`, 1),
    })
    expect(answer).toMatchObject({ status: 200, body: { data: { matched_rules: [] } } })
  })

  it('answers 422 when it takes too long, and other requests meanwhile', async () => {
    const jane = await world.holder('expensive')
    let isDone = false
    const slow = jane
      .post(`${PATH}/test`, { body, rules: rulesWith(`*${'a?'.repeat(900)}b*`, 20) })
      .finally(() => {
        isDone = true
      })
    const joe = await world.holder('other')
    const other = await joe.post(`${PATH}/test`, { subject: 'x', rules: [] })
    expect([other.status, isDone]).toEqual([200, false])
    expect(await slow).toMatchObject({ status: 422, body: { error_code: 'TOO_MUCH_WORK' } })
  })
})
