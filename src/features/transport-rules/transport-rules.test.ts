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

const create = (more: object = {}, tenant = acme) => createRule(tenant, more)
const eventsOf = (name: string) =>
  app.core.db.selectFrom('events').selectAll().where('event', '=', name).orderBy('id').execute()

it("returns 404 for another tenant's transport rule and leaves it unchanged", async () => {
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

it('lets a read-only key list and test transport rules but not create them', async () => {
  const reader = await app.key(acme.organizationId, { permissions: { read_only: true } })
  expect((await reader.get(PATH)).status).toBe(200)
  const tried = { sender: 'a@acme.test', recipients: ['b@x.test'] }
  expect((await reader.post(`${PATH}test`, tried)).status).toBe(200)
  expect(await reader.post(PATH, rule())).toMatchObject({ status: 403 })
})

it('creates a transport rule with defaults and emits transport_rule.created', async () => {
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

it('replaces every field of a transport rule except the hit count', async () => {
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

it('disables a transport rule and lists only enabled rules with enabled_only', async () => {
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

it('reorders all listed transport rules or none', async () => {
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

describe('transport rule test', () => {
  it('returns the matching rules per recipient and the resulting messages', async () => {
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
          truncated: false,
        },
        {
          recipients: ['ann@acme.test'],
          quarantined: false,
          notes: [],
          message: 'Subject: hi\r\n\r\ntext\r\n',
          truncated: false,
        },
      ],
    })
    for (const { id } of [mark, other]) await acme.delete(PATH + id)
  })

  it('returns reject and quarantine outcomes without storing anything', async () => {
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
    const quarantined = await acme.post(`${PATH}test`, { ...about, subject: 'Poker' })
    expect(quarantined.body.data).toMatchObject({
      outcome: 'quarantine',
      messages: [{ quarantined: true }],
    })
    expect(await app.core.db.selectFrom('quarantine').selectAll().execute()).toEqual([])
    expect((await acme.get(PATH + no.id)).body.data.hit_count).toBe(0)
    for (const { id } of [no, keep]) await acme.delete(PATH + id)
  })

  it('keeps the response below 1 MB and says that a message was cut', async () => {
    const { id } = await create({ conditions: [subject('long')] })
    const message = `Subject: long\n\n${'\u0001'.repeat(90_000)}`
    const answer = await acme.post(`${PATH}test`, {
      sender: 'a@acme.test',
      recipients: ['b@x.test'],
      message,
    })
    expect(answer.status, answer.text.slice(0, 200)).toBe(200)
    expect(answer.text.length).toBeLessThan(1_000_000)
    expect(answer.body.data.messages).toMatchObject([{ truncated: true }])
    await acme.delete(PATH + id)
  })
})

it('answers 422 when the expressions of rules take too long, and other requests meanwhile (S4)', async () => {
  const ids: string[] = []
  for (let count = 0; count < 4; count++) {
    const conditions = Array.from({ length: 50 }, (_, index) => ({
      field: 'subject',
      operator: 'regex',
      value: `[ab]*a[ab]{${250 + index}}z`,
    }))
    ids.push((await create({ conditions, condition_logic: 'any' })).id)
  }
  let seed = 1
  const letter = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed > 1_073_741_824 ? 'a' : 'b'
  }
  const letters = Array.from({ length: 8000 }, letter).join('')
  let isDone = false
  const slow = acme
    .post(`${PATH}test`, {
      sender: 'a@acme.test',
      recipients: ['b@x.test'],
      message: `Subject: ${letters}\n\n`,
    })
    .finally(() => {
      isDone = true
    })
  const other = await globex.post(`${PATH}test`, { sender: 'a@x.test', recipients: ['b@x.test'] })
  expect([other.status, isDone]).toEqual([200, false])
  expect(await slow).toMatchObject({
    status: 422,
    body: { error_code: 'TOO_MUCH_WORK', msg: expect.stringMatching(/fewer and simpler patterns/) },
  })
  for (const id of ids) await acme.delete(PATH + id)
})
