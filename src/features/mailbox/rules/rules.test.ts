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

describe('rules', () => {
  it('are refused when there are more than 50', async () => {
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
  ])('are refused when they are malformed: %#', async (body) => {
    const jane = await world.holder('malformed')
    expect(await jane.put(PATH, body)).toMatchObject({ status: 422, body: { detail: [{}] } })
    expect(jane.scripts.scripts.size).toBe(0)
  })

  it.each([
    ['no address', 'x"; discard; "@b.test', /it is no address/],
    ['the mailbox itself', ' ADMIN@forward.test', /cannot forward to itself/],
  ])('are refused when they forward to %s', async (_what, value, msg) => {
    const jane = await world.holder('forward')
    const rules = [{ conditions: [hello], actions: [{ type: 'forward', value }] }]
    expect(await jane.put(PATH, { rules })).toMatchObject({
      status: 422,
      body: { msg: expect.stringMatching(msg) },
    })
  })

  it('are none before any was saved', async () => {
    const jane = await world.holder('never')
    expect(await jane.get(PATH)).toMatchObject({
      status: 200,
      body: { msg: 'Rules retrieved successfully', data: { rules: [], managed: true } },
    })
  })

  it('are completed, stored as they are answered, and read back in their order', async () => {
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

  it('emit what is usable of them, and nothing for the rest', async () => {
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
      'require ["fileinto", "imap4flags"];',
      'if header :contains "subject" "hello" {',
      '  addflag "\\\\Flagged";',
      '  fileinto "Work";',
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

describe('a dry run', () => {
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

  it('says what the stored settings do, in their order, and changes nothing', async () => {
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

  it('tries rules before they are stored', async () => {
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
