import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../../../test/support/app.ts'
import { startReceiver } from '../../../../../test/support/receiver.ts'
import { HOUR_MS, SECOND_MS } from '../../../../lib/time.ts'
import { channelSender } from '../delivery/channel-sender.ts'
import { dispatcher } from '../delivery/dispatcher.ts'
import { evaluator } from './evaluator.ts'

const ALERTS = '/api/v1/platform/alerts'

let app: App
let operator: Awaited<ReturnType<App['operator']>>
let receiver: Awaited<ReturnType<typeof startReceiver>>
let channelId: string
beforeAll(async () => {
  receiver = await startReceiver()
  app = await startApp({ env: { SVC_OUTBOUND_ALLOW: '127.0.0.1/32' } })
  operator = await app.operator('operator')
})
afterAll(async () => {
  await app.stop()
  await receiver.stop()
})
beforeEach(async () => {
  await app.core.db.deleteFrom('alert_rules').execute()
  await app.core.db.deleteFrom('alert_events').execute()
  await app.core.db.deleteFrom('quarantine').execute()
  receiver.got.length = 0
  receiver.state.reply = (_received, response) => response.end('{}')
  channelId = await newChannel(receiver.url)
})

const newChannel = async (target: string): Promise<string> =>
  (await operator.post(`${ALERTS}/channels`, { name: 'c', type: 'webhook', target })).body.data.id

const newRule = async (more: object = {}) =>
  (
    await operator.post(`${ALERTS}/rules`, {
      name: 'Quarantine fills',
      metric: 'quarantine_pending',
      comparator: '>',
      threshold: 0,
      severity: 'critical',
      channel_ids: [channelId],
      ...more,
    })
  ).body.data

/** Evaluates all rules and sends what is due, with no state from earlier runs in memory. */
async function runOnce(): Promise<void> {
  await evaluator(app.core).run()
  const sender = channelSender(app.core)
  await dispatcher({ ...app.core, sender }).drain()
  await sender.close()
}

let quarantined = 0
const cross = (organization_id: string | null = null) =>
  app.core.db
    .insertInto('quarantine')
    .values({ id: `q${++quarantined}`, reason: 'spam', expires_at: '2099-01-01', organization_id })
    .execute()
const recover = () => app.core.db.deleteFrom('quarantine').execute()
const titles = () => receiver.got.map(({ json }) => json.attachments[0].title)
const history = async () =>
  (await operator.get(`${ALERTS}/history`)).body.data.items as Record<string, unknown>[]

it('fires only after the condition has held for for_seconds, across restarts', async () => {
  const rule = await newRule({ for_seconds: 60 })
  await cross()
  await runOnce()
  app.clock.advance(59 * SECOND_MS)
  await runOnce()
  expect(await history()).toEqual([])
  // No evaluation in between: elapsed time counts, not the number of evaluations.
  app.clock.advance(2 * SECOND_MS)
  await runOnce()
  expect(await history()).toMatchObject([{ rule_id: rule.id, state: 'firing', value: 1 }])
  expect(titles()).toEqual(['CRITICAL: Quarantine fills'])
})

it('restarts for_seconds when the condition was false in between', async () => {
  await newRule({ for_seconds: 60 })
  await cross()
  await runOnce()
  app.clock.advance(50 * SECOND_MS)
  await recover()
  await runOnce()
  await cross()
  await runOnce()
  app.clock.advance(30 * SECOND_MS)
  await runOnce()
  expect(await history()).toEqual([])
})

it('restarts for_seconds when the threshold of the rule changes', async () => {
  const rule = await newRule({ for_seconds: 60 })
  await cross()
  await runOnce()
  app.clock.advance(59 * SECOND_MS)
  await operator.put(`${ALERTS}/rules/${rule.id}`, { threshold: 0.5 })
  app.clock.advance(10 * SECOND_MS)
  await runOnce()
  expect(await history()).toEqual([])
})

it('notifies once when a rule fires, with all details, and once when it resolves', async () => {
  const rule = await newRule()
  await cross()
  await runOnce()
  await runOnce()
  app.clock.advance(1000 * SECOND_MS)
  await runOnce()
  expect(receiver.got).toHaveLength(1)
  const [{ json } = { json: undefined }] = receiver.got
  expect(json.text).toContain('quarantine_pending is 1 messages (threshold > 0)')
  expect(json.attachments[0]).toMatchObject({
    color: '#d7263d',
    fields: expect.arrayContaining([
      { title: 'metric', value: 'quarantine_pending', short: true },
      { title: 'value', value: '1', short: true },
      { title: 'threshold', value: '0', short: true },
      { title: 'comparator', value: '>', short: true },
      { title: 'severity', value: 'critical', short: true },
    ]),
  })
  const fired = await operator.get(`${ALERTS}/rules/${rule.id}`)
  expect(fired.body.data.last_fired_at).toEqual(expect.any(String))
  await recover()
  await runOnce()
  expect(titles()).toEqual(['CRITICAL: Quarantine fills', 'Resolved: Quarantine fills'])
  expect(await history()).toMatchObject([{ state: 'resolved', resolved_at: expect.any(String) }])
})

it('limits notifications of a flapping rule by the cooldown, then reports a lasting alert', async () => {
  await newRule()
  for (let round = 0; round < 10; round++) {
    await cross()
    await runOnce()
    await recover()
    await runOnce()
    app.clock.advance(10 * SECOND_MS)
  }
  expect(await history()).toHaveLength(10)
  expect(titles()).toEqual(['CRITICAL: Quarantine fills', 'Resolved: Quarantine fills'])
  await cross()
  await runOnce()
  expect(receiver.got).toHaveLength(2)
  app.clock.advance(301 * SECOND_MS)
  await runOnce()
  expect(titles().slice(2)).toEqual(['CRITICAL: Quarantine fills'])
})

it('neither fires nor resolves a rule while its metric cannot be read', async () => {
  await newRule({ metric: 'services_down', comparator: '>=', threshold: 1 })
  await runOnce()
  expect(await history()).toEqual([])
  const state = (checked: Date) => ({
    name: 'postfix',
    status: 'down' as const,
    protocol: 'smtp',
    critical: true,
    check_duration: 1,
    checked_at: checked.toISOString(),
    changed_at: checked.toISOString(),
  })
  await app.core.db.insertInto('service_health').values(state(app.clock.now())).execute()
  await runOnce()
  expect(await history()).toMatchObject([{ state: 'firing' }])
  // The last service check is too old, so the metric has no value.
  app.clock.advance(HOUR_MS)
  await runOnce()
  expect(await history()).toMatchObject([{ state: 'firing' }])
  await app.core.db.deleteFrom('service_health').execute()
})

it('evaluates a rule with an organization_id for that organization only', async () => {
  const acme = await app.tenant('acme')
  const globex = await app.tenant('globex')
  const rule = await newRule({ organization_id: acme.organizationId })
  await cross(globex.organizationId)
  await runOnce()
  expect(await history()).toEqual([])
  await cross(acme.organizationId)
  await runOnce()
  expect(await history()).toMatchObject([{ rule_id: rule.id, value: 1 }])
})

it('skips disabled rules and disabled channels', async () => {
  const { id } = await newRule({ enabled: false })
  await cross()
  await runOnce()
  expect(await history()).toEqual([])
  await operator.put(`${ALERTS}/rules/${id}`, { enabled: true })
  await app.core.db.updateTable('alert_channels').set({ enabled: false }).execute()
  await runOnce()
  expect(await history()).toHaveLength(1)
  expect(receiver.got).toEqual([])
  await app.core.db.updateTable('alert_channels').set({ enabled: true }).execute()
})

it.each(['disabled', 'deleted'])('resolves the open alert when its rule is %s', async (how) => {
  const { id } = await newRule()
  await cross()
  await runOnce()
  if (how === 'disabled') await operator.put(`${ALERTS}/rules/${id}`, { enabled: false })
  else await operator.delete(`${ALERTS}/rules/${id}`, { reason: 'no longer needed' })
  expect(await history()).toMatchObject([
    { rule_id: how === 'deleted' ? null : id, state: 'resolved', message: `The rule was ${how}` },
  ])
})

it('retries a failing channel a limited number of times and still notifies the others', async () => {
  const dead = await newChannel('http://127.0.0.1:9/hook')
  await newRule({ channel_ids: [dead, channelId] })
  await cross()
  await runOnce()
  expect(receiver.got).toHaveLength(1)
  const notification = () =>
    app.core.db
      .selectFrom('alert_notifications')
      .select(['attempts', 'done_at', 'last_error'])
      .where('channel_id', '=', dead)
      .executeTakeFirstOrThrow()
  expect(await notification()).toMatchObject({ attempts: 1, done_at: null })
  for (const wait of [10, 30, 60, 300, 900, 3600]) {
    app.clock.advance((wait + 1) * SECOND_MS)
    await runOnce()
  }
  const last = await notification()
  expect(last).toMatchObject({ attempts: 6, done_at: expect.any(String) })
  expect(last.last_error).toMatch(/ECONNREFUSED/)
  const { items } = (await operator.get(`${ALERTS}/channels`)).body.data
  const byId = (id: string) => items.find((one: { id: string }) => one.id === id)
  expect(byId(dead).last_error).toMatch(/ECONNREFUSED/)
  expect(byId(channelId)).toMatchObject({ last_error: null, last_used_at: expect.any(String) })
  expect(receiver.got).toHaveLength(1)
})

it('sends a notification again after the lease of a killed sender has ended', async () => {
  await newRule()
  await cross()
  await evaluator(app.core).run()
  const killed = dispatcher({ ...app.core, sender: { send: () => new Promise(() => {}) } })
  expect(await killed.sendDue()).toBe(1)
  await runOnce()
  expect(receiver.got).toEqual([])
  await app.core.db
    .updateTable('alert_notifications')
    .set({ lease_until: sql`now()` })
    .where('done_at', 'is', null)
    .execute()
  await runOnce()
  expect(receiver.got).toHaveLength(1)
})

it('sends the resolved notification only after the pending firing notification', async () => {
  receiver.state.reply = (_received, response, nth) => {
    response.statusCode = nth === 1 ? 500 : 200
    response.end('{}')
  }
  await newRule()
  await cross()
  await runOnce()
  await recover()
  await runOnce()
  app.clock.advance(11 * SECOND_MS)
  await runOnce()
  expect(titles()).toEqual([
    'CRITICAL: Quarantine fills',
    'CRITICAL: Quarantine fills',
    'Resolved: Quarantine fills',
  ])
})

it('fires a rule once when four evaluations run at the same time', async () => {
  await newRule()
  await cross()
  await Promise.all(Array.from({ length: 4 }, () => evaluator(app.core).run()))
  await runOnce()
  expect(await history()).toHaveLength(1)
  expect(receiver.got).toHaveLength(1)
})
