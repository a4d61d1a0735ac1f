import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'

const PATH = '/api/v1/transport-rules/'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const subject = (value: string) => ({ field: 'subject', operator: 'contains', value })
const to = (value: string) => ({ field: 'recipient', operator: 'equals', value })
const rule = (more: object = {}) => ({
  name: 'Mark',
  conditions: [subject('offer')],
  actions: [{ type: 'add_header', params: { name: 'X-Offer', value: 'yes' } }],
  ...more,
})
const create = async (more: object = {}, who = acme) => {
  const answer = await who.post(PATH, rule(more))
  expect(answer.status, answer.text).toBe(201)
  return answer.body.data
}
const eventsOf = (name: string) =>
  app.core.db.selectFrom('events').selectAll().where('event', '=', name).orderBy('id').execute()

describe('what is refused', () => {
  const action = (type: string, params: object) => ({ actions: [{ type, params }] })
  const condition = (field: string, operator: string, value: string) => ({
    conditions: [{ field, operator, value }],
  })

  it.each<[string, object, (string | number)[], string]>([
    ['no name', { name: '' }, ['name'], 'Must not be empty'],
    ['a long name', { name: 'x'.repeat(256) }, ['name'], 'at most 255'],
    ['no conditions', { conditions: [] }, ['conditions'], 'at least 1'],
    ['no actions', { actions: [] }, ['actions'], 'at least 1'],
    [
      'a number',
      { conditions: [{ field: 'size', operator: 'equals', value: 5 }] },
      ['conditions', 0, 'value'],
      'string',
    ],
    [
      'an unknown field',
      condition('body', 'contains', 'x'),
      ['conditions', 0, 'field'],
      'one of sender',
    ],
    ['an unknown action', action('drop', {}), ['actions', 0, 'type'], 'one of quarantine'],
    [
      'more than text',
      condition('subject', 'greater_than', '5'),
      ['conditions', 0, 'operator'],
      'it is text',
    ],
    [
      'a part of a size',
      condition('size', 'contains', '5'),
      ['conditions', 0, 'operator'],
      'Of size',
    ],
    [
      'a size in words',
      condition('size', 'equals', '5 MB'),
      ['conditions', 0, 'value'],
      'number of bytes',
    ],
    [
      'half an attachment',
      condition('has_attachment', 'equals', 'maybe'),
      ['conditions', 0, 'value'],
      "'true' or 'false'",
    ],
    [
      'a header without name',
      condition('header', 'contains', 'spam'),
      ['conditions', 0, 'value'],
      'a colon',
    ],
    ['a broken expression', condition('subject', 'regex', '('), ['conditions', 0, 'value'], 'RE2'],
    [
      'a reference back',
      condition('subject', 'regex', '(a)\\1'),
      ['conditions', 0, 'value'],
      'RE2',
    ],
    [
      'a huge expression',
      condition('sender', 'regex', '[ab]{900}'),
      ['conditions', 0, 'value'],
      'too large',
    ],
    [
      'nothing to look for',
      condition('sender', 'contains', ''),
      ['conditions', 0, 'value'],
      'not be empty',
    ],
    [
      'a header of two',
      action('add_header', { name: 'X-A', value: 'a\r\nBcc: x@y.test' }),
      ['actions', 0, 'params', 'value'],
      'line breaks',
    ],
    [
      'a name of two',
      action('add_header', { name: 'X-A: b\nX-C', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'line breaks',
    ],
    [
      'a name with a colon',
      action('add_header', { name: 'X:A', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'colon',
    ],
    [
      'another sender',
      action('add_header', { name: 'From', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'belongs to the message',
    ],
    [
      'another structure',
      action('add_header', { name: 'content-type', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'belongs to the message',
    ],
    [
      'a header without value',
      action('add_header', { name: 'X-A' }),
      ['actions', 0, 'params', 'value'],
      'Is required',
    ],
    [
      'an unchanged subject',
      action('modify_subject', {}),
      ['actions', 0, 'params', 'prefix'],
      'prefix, suffix or replace',
    ],
    [
      'a subject of two lines',
      action('modify_subject', { prefix: '[a]\nBcc: b' }),
      ['actions', 0, 'params', 'prefix'],
      'line breaks',
    ],
    ['no address', action('redirect', {}), ['actions', 0, 'params', 'address'], 'Is required'],
    [
      'a bad address',
      action('bcc', { address: 'a@b, c@d.test' }),
      ['actions', 0, 'params', 'address'],
      'email address',
    ],
    ['a silent refusal', action('reject', {}), ['actions', 0, 'params', 'message'], 'Is required'],
    [
      'a refusal of two lines',
      action('reject', { message: 'no\r\n250 ok' }),
      ['actions', 0, 'params', 'message'],
      'line breaks',
    ],
    [
      'a refusal in Greek',
      action('reject', { message: 'όχι' }),
      ['actions', 0, 'params', 'message'],
      'ASCII',
    ],
    [
      'an empty disclaimer',
      action('add_disclaimer', { html: '<p>' }),
      ['actions', 0, 'params', 'text'],
      'Is required',
    ],
    [
      'a disclaimer in the middle',
      action('add_disclaimer', { text: 'a', position: 'middle' }),
      ['actions', 0, 'params', 'position'],
      "'start' or 'end'",
    ],
    ['a priority beyond all', { priority: 1e12 }, ['priority'], 'at most'],
  ])('%s', async (_, more, loc, msg) => {
    const answer = await acme.post(PATH, rule(more))
    expect(answer.status, answer.text).toBe(422)
    expect(answer.body.detail[0]).toMatchObject({ loc: ['body', ...loc] })
    expect(answer.body.detail[0].msg).toContain(msg)
  })

  it('several things at once, each with its place', async () => {
    const answer = await acme.post(
      PATH,
      rule({
        conditions: [subject('x'), { field: 'size', operator: 'regex', value: 'x' }],
        actions: [{ type: 'redirect' }],
      }),
    )
    expect(answer.body.detail.map(({ loc }: { loc: unknown[] }) => loc.join('.'))).toEqual([
      'body.conditions.1.operator',
      'body.actions.0.params.address',
    ])
  })

  it('a rule that sends mail to where it took it from', async () => {
    const self = rule({
      conditions: [to('Info@acme.test')],
      actions: [{ type: 'redirect', params: { address: 'info@acme.test' } }],
    })
    const answer = await acme.post(PATH, self)
    expect(answer).toMatchObject({ status: 422 })
    expect(answer.text).toContain('info@acme.test → info@acme.test')
  })

  it('a circle of two rules, also when it is closed by switching one on', async () => {
    const first = {
      conditions: [to('a@acme.test')],
      actions: [{ type: 'bcc', params: { address: 'b@acme.test' } }],
    }
    const second = {
      conditions: [to('b@acme.test')],
      actions: [{ type: 'redirect', params: { address: 'a@acme.test' } }],
    }
    const one = await create(first)
    expect((await acme.post(PATH, rule(second))).text).toContain(
      'b@acme.test → a@acme.test → b@acme.test',
    )
    const off = await create({ ...second, enabled: false })
    expect((await acme.put(`${PATH}${off.id}/enable?enabled=true`)).status).toBe(422)
    expect((await acme.get(`${PATH}${off.id}`)).body.data.enabled).toBe(false)
    await acme.delete(PATH + one.id)
    expect((await acme.put(`${PATH}${off.id}/enable?enabled=true`)).status).toBe(200)
    await acme.delete(PATH + off.id)
  })

  it('a circle through an alias', async () => {
    await acme.post('/api/v1/aliases/add', {
      source: 'team@acme.test',
      destination: 'lead@acme.test',
    })
    const answer = await acme.post(
      PATH,
      rule({
        conditions: [to('lead@acme.test')],
        actions: [{ type: 'redirect', params: { address: 'team@acme.test' } }],
      }),
    )
    expect(answer.text).toContain('lead@acme.test → team@acme.test → lead@acme.test')
  })

  it('a rule of nobody, from the platform', async () => {
    const platform = await app.key(null, { scope: 'platform' })
    expect(await platform.post(PATH, rule())).toMatchObject({
      status: 400,
      body: { msg: expect.stringContaining('organization_id is required') },
    })
    const unknown = await platform.post(PATH, rule({ organization_id: 'nobody' }))
    expect(unknown).toMatchObject({ status: 404, body: { msg: 'Organization not found' } })
    const made = await platform.post(PATH, rule({ organization_id: globex.organizationId }))
    expect(made).toMatchObject({
      status: 201,
      body: { data: { organization_id: globex.organizationId } },
    })
    await platform.delete(PATH + made.body.data.id)
  })

  it('one rule too many', async () => {
    const full = await app.tenant('full')
    const rows = Array.from({ length: 200 }, (_, index) => ({
      id: `full-${index}`,
      organization_id: full.organizationId,
      name: 'x',
      conditions: [],
      actions: [],
      enabled: false,
    }))
    await app.core.db
      .insertInto('transport_rules')
      .values(rows as never)
      .execute()
    expect(await full.post(PATH, rule())).toMatchObject({
      status: 409,
      body: { error_code: 'TOO_MANY_TRANSPORT_RULES', data: { limit: 200 } },
    })
  })
})

it("has nothing of another tenant's, and changes nothing of it", async () => {
  const { id } = await create()
  for (const answer of [
    await globex.get(PATH + id),
    await globex.put(PATH + id, rule()),
    await globex.put(`${PATH}${id}/enable?enabled=false`),
    await globex.put(`${PATH}reorder`, { rule_ids: [id] }),
    await globex.delete(PATH + id),
  ]) {
    expect(answer).toMatchObject({ status: 404, body: { msg: 'Transport rule not found' } })
  }
  expect((await acme.get(PATH + id)).body.data).toMatchObject({ enabled: true, priority: 100 })
  expect((await globex.get(PATH)).body.data.items).toEqual([])
  await acme.delete(PATH + id)
})

it('lets a read-only key look and test, and change nothing', async () => {
  const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
  expect((await reader.get(PATH)).status).toBe(200)
  const tried = { sender: 'a@acme.test', recipients: ['b@x.test'] }
  expect((await reader.post(`${PATH}test`, tried)).status).toBe(200)
  expect(await reader.post(PATH, rule())).toMatchObject({ status: 403 })
})

it('creates with defaults, and tells of it', async () => {
  const made = await create({ name: 'Defaults', unknown: 1 })
  expect(made).toEqual({
    id: expect.stringMatching(/^[0-9A-Z]{26}$/),
    organization_id: acme.organizationId,
    name: 'Defaults',
    description: null,
    direction: 'both',
    conditions: [subject('offer')],
    condition_logic: 'all',
    actions: [{ type: 'add_header', params: { name: 'X-Offer', value: 'yes' } }],
    priority: 100,
    enabled: true,
    hit_count: 0,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  })
  expect((await eventsOf('transport_rule.created')).at(-1)).toMatchObject({
    org_id: acme.organizationId,
    data: { rule_id: made.id, name: 'Defaults', direction: 'both', priority: 100 },
  })
  await acme.delete(PATH + made.id)
})

it('replaces everything but the count', async () => {
  const { id } = await create({ description: 'first', priority: 5, direction: 'inbound' })
  await app.core.db
    .updateTable('transport_rules')
    .set({ hit_count: 7 })
    .where('id', '=', id)
    .execute()
  const answer = await acme.put(PATH + id, rule({ name: 'Second', condition_logic: 'any' }))
  expect(answer.body).toMatchObject({
    msg: 'Transport rule updated',
    data: { name: 'Second', description: null, priority: 100, direction: 'both', hit_count: 7 },
  })
  expect((await eventsOf('transport_rule.updated')).at(-1)).toMatchObject({ data: { rule_id: id } })
  expect((await acme.put(PATH + id, { name: 'half' })).status).toBe(422)
  expect(await acme.delete(PATH + id)).toMatchObject({ status: 200, body: { data: { id } } })
  expect((await eventsOf('transport_rule.deleted')).at(-1)).toMatchObject({ data: { rule_id: id } })
  expect((await acme.get(PATH + id)).status).toBe(404)
})

it('switches on and off, and lists what is on if asked', async () => {
  const on = await create({ name: 'on', priority: 1 })
  const off = await create({ name: 'off', priority: 2 })
  expect((await acme.put(`${PATH}${off.id}/enable`)).status).toBe(422)
  expect((await acme.put(`${PATH}${off.id}/enable?enabled=perhaps`)).status).toBe(422)
  const answer = await acme.put(`${PATH}${off.id}/enable?enabled=false`)
  expect(answer.body).toEqual({
    type: 'success',
    msg: 'Transport rule disabled',
    data: { id: off.id, enabled: false },
  })
  const ids = async (query: string) =>
    (await acme.get(PATH + query)).body.data.items.map(({ id }: { id: string }) => id)
  expect(await ids('')).toEqual([on.id, off.id])
  expect(await ids('?enabled_only=true')).toEqual([on.id])
  for (const { id } of [on, off]) await acme.delete(PATH + id)
})

it('gives rules the order of a list, all or none', async () => {
  const [a, b, c] = [
    await create({ name: 'a' }),
    await create({ name: 'b' }),
    await create({ name: 'c', priority: 15 }),
  ]
  const foreign = await create({}, globex)
  const order = async () =>
    (await acme.get(PATH)).body.data.items.map(
      ({ name, priority }: { name: string; priority: number }) => `${name} ${priority}`,
    )
  const refused = await acme.put(`${PATH}reorder`, { rule_ids: [b.id, foreign.id] })
  expect(refused.status).toBe(404)
  expect((await acme.put(`${PATH}reorder`, { rule_ids: [b.id, b.id] })).status).toBe(422)
  expect(await order()).toEqual(['c 15', 'a 100', 'b 100'])
  const answer = await acme.put(`${PATH}reorder`, { rule_ids: [b.id, a.id] })
  expect(answer).toMatchObject({ status: 200, body: { msg: 'Rules reordered' } })
  expect(await order()).toEqual(['b 10', 'c 15', 'a 20'])
  for (const { id } of [a, b, c]) await acme.delete(PATH + id)
  await globex.delete(PATH + foreign.id)
})

describe('a dry run', () => {
  it('tells which rules match whom, and shows the message as it would go on', async () => {
    const mark = await create({ name: 'mark', conditions: [to('boss@acme.test')], priority: 1 })
    const other = await create({ name: 'other', conditions: [subject('nothing')] })
    const { body } = await acme.post(`${PATH}test`, {
      sender: 'a@x.test',
      recipients: ['boss@acme.test', 'ann@acme.test'],
      message: 'Subject: hi\n\ntext\n',
      direction: 'inbound',
    })
    expect(body.data).toEqual({
      outcome: 'pass',
      reject_message: null,
      rules: [
        { id: mark.id, name: 'mark', matched: true, recipients: ['boss@acme.test'] },
        { id: other.id, name: 'other', matched: false, recipients: [] },
      ],
      messages: [
        {
          recipients: ['boss@acme.test'],
          quarantined: false,
          notes: [],
          message: 'X-Offer: yes\r\nSubject: hi\r\n\r\ntext\r\n',
        },
        {
          recipients: ['ann@acme.test'],
          quarantined: false,
          notes: [],
          message: 'Subject: hi\r\n\r\ntext\r\n',
        },
      ],
    })
    for (const { id } of [mark, other]) await acme.delete(PATH + id)
  })

  it('tells of a refusal and of what would be kept back, and does neither', async () => {
    const no = await create({
      conditions: [subject('casino')],
      actions: [{ type: 'reject', params: { message: 'No games' } }],
    })
    const keep = await create({ conditions: [subject('poker')], actions: [{ type: 'quarantine' }] })
    const about = { sender: 'a@acme.test', recipients: ['b@x.test'] }
    const refused = await acme.post(`${PATH}test`, { ...about, subject: 'Casino' })
    expect(refused.body.data).toMatchObject({
      outcome: 'reject',
      reject_message: 'No games',
      messages: [],
    })
    const kept = await acme.post(`${PATH}test`, { ...about, subject: 'Poker' })
    expect(kept.body.data).toMatchObject({
      outcome: 'quarantine',
      messages: [{ quarantined: true }],
    })
    expect(await app.core.db.selectFrom('quarantine').selectAll().execute()).toEqual([])
    expect((await acme.get(PATH + no.id)).body.data.hit_count).toBe(0)
    for (const { id } of [no, keep]) await acme.delete(PATH + id)
  })
})
