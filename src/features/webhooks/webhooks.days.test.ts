import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, clientOf, INTERNAL_TOKEN, startApp } from '../../../test/support/app.ts'
import { daysOf, daysReadBy, plansOf } from '../../../test/support/days.ts'
import { withOldDatabase } from '../../../test/support/old-database.ts'
import { migrate } from '../../database/migrate.ts'
import { midnightOf } from '../../lib/dates.ts'
import { DAY_MS } from '../../lib/time.ts'
import { cleanupService } from './cleanup/cleanup.service.ts'
import * as deliveries from './deliveries/deliveries.repository.ts'
import { type Outcome, record } from './delivery/outcomes.ts'
import { makeWebhookDays, webhookDeliveries } from './webhooks.days.ts'

let app: App
let service: ReturnType<typeof clientOf>
beforeAll(async () => {
  app = await startApp()
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
})
afterAll(() => app.stop())
beforeEach(() => app.core.db.deleteFrom('webhook_deliveries').execute())

const { at, dayNames, makeDay, nameOf, places } = daysOf(() => app, webhookDeliveries)
const left = async () => Object.keys(await places())
const cleanUp = async () => (await service.post('/cleanup/now')).body.deleted_deliveries

type Status = 'delivered' | 'failed'
const insert = (id: string, time: Date, delivery_status: Status = 'delivered') =>
  app.core.db
    .insertInto('webhook_deliveries')
    .values({
      id,
      event_id: `event of ${id}`,
      event_type: 'domain.added',
      webhook_url: 'http://hooks.test/',
      delivery_status,
      http_status_code: 200,
      attempts: 1,
      created_at: time.toISOString(),
    })
    .execute()

it('makes today and the next days, and attempts of other days are stored all the same', async () => {
  await makeWebhookDays.run(app.core)
  await insert('past', at(-9))
  await insert('today', at(0))
  await insert('later', at(9))
  expect(await places()).toEqual({
    past: 'webhook_deliveries_default',
    today: nameOf(0),
    later: 'webhook_deliveries_default',
  })
  app.clock.advance(9 * DAY_MS)
  await makeWebhookDays.run(app.core)
  expect((await places()).later).toBe(nameOf(0))
})

it('stores an outcome once that is written twice, on either side of midnight', async () => {
  await makeWebhookDays.run(app.core)
  const outcome = (id: string, time: Date): Outcome => ({
    id,
    job: {
      id: 1,
      lane: 0,
      endpointId: null,
      subject: 0,
      attempts: 0,
      event: { id: 'gone', event: 'domain.added', data: {} } as never,
    },
    organizationId: null,
    url: 'http://hooks.test/',
    httpStatus: 200,
    error: null,
    at: time,
    status: 'delivered',
  })
  const midnight = midnightOf(at(1))
  const outcomes = [outcome('late', new Date(midnight.getTime() - 1)), outcome('early', midnight)]
  for (const _time of ['first', 'second']) {
    await app.core.db.transaction().execute((tx) => record(tx, outcomes))
  }
  expect(await places()).toEqual({ early: nameOf(1), late: nameOf(0) })
})

describe('the days that have expired', () => {
  // The default: successes are kept for a day, failures for three.
  const SUCCESSES = 1
  const FAILURES = 3
  beforeEach(async () => {
    for (const days of [SUCCESSES, SUCCESSES + 1, FAILURES, FAILURES + 1]) await makeDay(-days)
  })

  it('are dropped with all of their attempts, and no younger one goes', async () => {
    const end = midnightOf(at(-SUCCESSES))
    await insert('last of the old', new Date(end.getTime() - 1))
    await insert('first of the young', end)
    expect((await service.get('/cleanup/stats')).body.expired_deliveries).toBe(1)
    expect(await cleanUp()).toBe(1)
    expect(await left()).toEqual(['first of the young'])
    const days = await dayNames()
    expect(days).toContain(nameOf(-SUCCESSES))
    expect(days).not.toContain(nameOf(-SUCCESSES - 1))
  })

  it('leave their failures, which go later', async () => {
    await insert('delivered', at(-SUCCESSES - 1))
    await insert('failed', at(-SUCCESSES - 1), 'failed')
    await insert('failed long ago', at(-FAILURES - 1), 'failed')
    expect(await cleanUp()).toBe(2)
    expect(await places()).toEqual({ failed: 'webhook_deliveries_default' })
    app.clock.advance((FAILURES - SUCCESSES) * DAY_MS)
    expect(await cleanUp()).toBe(1)
    expect(await left()).toEqual([])
  })

  it('stay while they have many failures, and their successes are deleted', async () => {
    const day = at(-SUCCESSES - 1).toISOString()
    await sql`
      insert into webhook_deliveries (id, event_id, event_type, webhook_url, delivery_status,
        http_status_code, attempts, created_at)
      select 'failed ' || n, 'event', 'domain.added', 'http://hooks.test/', 'failed', 500, 1,
        ${day}::timestamptz
      from generate_series(1, 10001) as n`.execute(app.core.db)
    await insert('delivered', at(-SUCCESSES - 1))
    expect(await cleanUp()).toBe(1)
    const kept = await places()
    expect(Object.keys(kept)).toHaveLength(10_001)
    expect(new Set(Object.values(kept))).toEqual(new Set([nameOf(-SUCCESSES - 1)]))
  })
})

it('reads the days that a list asks for and no others', async () => {
  for (const days of [3, 2, 1]) await makeDay(-days)
  await makeWebhookDays.run(app.core)
  for (const days of [3, 2, 1, 0]) await insert(`${days} days ago`, at(-days))
  const from = midnightOf(at(-2))
  const asked = { from, to: new Date(from.getTime() + DAY_MS - 1) }
  const page = { page: 1, perPage: 10, offset: 0 }
  const days = await daysReadBy(app.core.db, async (db) => {
    const { items, total } = await deliveries.list(db, 'platform', asked, page)
    expect(items).toMatchObject([{ id: '2 days ago' }])
    expect(total).toBe(1)
  })
  expect(days).toEqual([nameOf(-2)])
})

it('finds an attempt, and those of an event and of an endpoint, by indexes', async () => {
  await makeWebhookDays.run(app.core)
  await insert('one', at(0))
  const page = { page: 1, perPage: 10, offset: 0 }
  const plans = await plansOf(app.core.db, async (db) => {
    expect(await deliveries.find(db, 'platform', 'one')).toMatchObject({ id: 'one' })
    for (const filter of [{ event_id: 'event of one' }, { endpoint_id: 'none' }]) {
      await deliveries.list(db, { organization: 'acme' }, filter, page)
    }
  })
  expect(plans).toHaveLength(5)
  expect(plans.filter((plan) => plan.includes('Seq Scan'))).toEqual([])
})

it('upgrades a database with deliveries: all are found, none twice, and old ones expire', () =>
  withOldDatabase(app, '0030_certificate_contents.sql', async (sql, core) => {
    await sql`
      insert into webhook_deliveries (id, event_id, event_type, webhook_url, delivery_status,
        http_status_code, attempts, created_at)
      select 'delivery-' || n, 'event-' || n, 'domain.added', 'http://hooks.test/',
        case when n % 10 = 0 then 'failed' else 'delivered' end, 200, 1,
        now() - n * interval '1 hour'
      from generate_series(0, 199) as n`
    const stored = () => sql`select * from webhook_deliveries order by id`
    const before = await stored()
    await migrate(sql)
    expect(await stored()).toEqual(before)

    await makeWebhookDays.run(core)
    await sql`
      insert into webhook_deliveries select * from webhook_deliveries on conflict do nothing`
    expect(await stored()).toHaveLength(200)
    await cleanupService(core).run()
    const expected = before.filter(({ created_at, delivery_status }) => {
      const days = delivery_status === 'delivered' ? 1 : 3
      return created_at >= midnightOf(new Date(Date.now() - days * DAY_MS)).toISOString()
    })
    expect(await stored()).toEqual(expected)
  }))
