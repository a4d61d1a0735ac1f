import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { createRule, PATH, rule, subject, to } from '../../../test/support/transport-rules.ts'

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())

const create = (more: object) => createRule(acme, more)

describe('creating a transport rule', () => {
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
      'a condition value that is a number',
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
      'greater_than on a text field',
      condition('subject', 'greater_than', '5'),
      ['conditions', 0, 'operator'],
      'it is text',
    ],
    [
      'contains on the size',
      condition('size', 'contains', '5'),
      ['conditions', 0, 'operator'],
      'Of size',
    ],
    [
      'a size with a unit',
      condition('size', 'equals', '5 MB'),
      ['conditions', 0, 'value'],
      'number of bytes',
    ],
    [
      'has_attachment that is not a boolean',
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
      'an expression with a back reference',
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
      'an empty condition value',
      condition('sender', 'contains', ''),
      ['conditions', 0, 'value'],
      'not be empty',
    ],
    [
      'a header value with a line break',
      action('add_header', { name: 'X-A', value: 'a\r\nBcc: x@y.test' }),
      ['actions', 0, 'params', 'value'],
      'line breaks',
    ],
    [
      'a header name with a line break',
      action('add_header', { name: 'X-A: b\nX-C', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'line breaks',
    ],
    [
      'a header name with a colon',
      action('add_header', { name: 'X:A', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'colon',
    ],
    [
      'add_header for From',
      action('add_header', { name: 'From', value: 'a' }),
      ['actions', 0, 'params', 'name'],
      'belongs to the message',
    ],
    [
      'add_header for Content-Type',
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
      'modify_subject without parameters',
      action('modify_subject', {}),
      ['actions', 0, 'params', 'prefix'],
      'prefix, suffix or replace',
    ],
    [
      'a subject prefix with a line break',
      action('modify_subject', { prefix: '[a]\nBcc: b' }),
      ['actions', 0, 'params', 'prefix'],
      'line breaks',
    ],
    [
      'a redirect without address',
      action('redirect', {}),
      ['actions', 0, 'params', 'address'],
      'Is required',
    ],
    [
      'a malformed bcc address',
      action('bcc', { address: 'a@b, c@d.test' }),
      ['actions', 0, 'params', 'address'],
      'email address',
    ],
    [
      'a reject without message',
      action('reject', {}),
      ['actions', 0, 'params', 'message'],
      'Is required',
    ],
    [
      'a reject message with a line break',
      action('reject', { message: 'no\r\n250 ok' }),
      ['actions', 0, 'params', 'message'],
      'line breaks',
    ],
    [
      'a reject message that is not ASCII',
      action('reject', { message: 'όχι' }),
      ['actions', 0, 'params', 'message'],
      'ASCII',
    ],
    [
      'a disclaimer without text',
      action('add_disclaimer', { html: '<p>' }),
      ['actions', 0, 'params', 'text'],
      'Is required',
    ],
    [
      'a disclaimer position other than start or end',
      action('add_disclaimer', { text: 'a', position: 'middle' }),
      ['actions', 0, 'params', 'position'],
      "'start' or 'end'",
    ],
    ['a priority beyond 32 bits', { priority: 1e12 }, ['priority'], 'at most'],
  ])('rejects %s with 422', async (_, more, loc, msg) => {
    const answer = await acme.post(PATH, rule(more))
    expect(answer.status, answer.text).toBe(422)
    expect(answer.body.detail[0]).toMatchObject({ loc: ['body', ...loc] })
    expect(answer.body.detail[0].msg).toContain(msg)
  })

  it('returns every problem of a rule with its location', async () => {
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

  it('rejects a rule that redirects mail to its own recipient', async () => {
    const self = rule({
      conditions: [to('Info@acme.test')],
      actions: [{ type: 'redirect', params: { address: 'info@acme.test' } }],
    })
    const answer = await acme.post(PATH, self)
    expect(answer).toMatchObject({ status: 422 })
    expect(answer.text).toContain('info@acme.test → info@acme.test')
  })

  it('rejects a loop of two rules, also when enabling one of them closes it', async () => {
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

  it('rejects a loop through an alias', async () => {
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

  it('requires an existing organization_id from a platform key', async () => {
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

  it('returns 409 when the organization has 200 transport rules', async () => {
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

it('limits the size of all rules of an organization together', async () => {
  const text = 'x'.repeat(10_000)
  const actions = Array(20).fill({ type: 'add_disclaimer', params: { text } })
  const ids: string[] = []
  let answer = await acme.post(PATH, { name: 'Rule', conditions: [subject('x')], actions })
  for (; answer.status === 201; ) {
    ids.push(answer.body.data.id)
    answer = await acme.post(PATH, { name: 'Rule', conditions: [subject('x')], actions })
  }
  expect(ids).toHaveLength(2)
  expect(answer).toMatchObject({
    status: 409,
    body: { error_code: 'TRANSPORT_RULES_TOO_LARGE', data: { limit_bytes: 524_288 } },
  })
  for (const id of ids) await acme.delete(PATH + id)
})
