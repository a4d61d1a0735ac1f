import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, clientOf, INTERNAL_TOKEN, startApp } from '../../../test/support/app.ts'
import { daysOf, daysReadBy, plansOf } from '../../../test/support/days.ts'
import { withOldDatabase } from '../../../test/support/old-database.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { migrate } from '../../database/migrate.ts'
import { midnightOf } from '../../lib/dates.ts'
import { DAY_MS } from '../../lib/time.ts'
import * as activity from '../activity/activity.repository.ts'
import { cleanupService } from './cleanup/cleanup.service.ts'
import { holdEvents, isStored } from './dead-letters/dead-letters.repository.ts'
import * as queue from './delivery/queue.repository.ts'
import { makeWebhookDays, storedEvents } from './webhooks.days.ts'

// The defaults.
const SENT_DAYS = 3
const ACTIVITY_RETENTION_DAYS = 90

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let service: ReturnType<typeof clientOf>
beforeAll(async () => {
  // With a global URL every event is enqueued; nothing delivers it here.
  app = await startApp({ env: { WEBHOOK_URL: 'http://127.0.0.1:9/' } })
  acme = await app.tenant('acme')
  service = clientOf(app, { 'x-internal-token': INTERNAL_TOKEN })
})
afterAll(() => app.stop())
beforeEach(async () => {
  await app.core.db.deleteFrom('webhook_queue').execute()
  await app.core.db.deleteFrom('events').execute()
})

const { at, dayNames, makeDay, nameOf, places } = daysOf(() => app, storedEvents)
const cleanUp = () => service.post('/cleanup/now')

const insert = (id: string, created_at: Date, event = 'email.delivered') =>
  app.core.db
    .insertInto('events')
    .values({
      id,
      event,
      source: 'test',
      org_id: acme.organizationId,
      data: {},
      created_at: created_at.toISOString(),
    })
    .execute()
const enqueue = (id: string) =>
  app.core.db.transaction().execute((tx) => queue.enqueueAgain(tx, id, null))
/** The ids of the events that wait for a delivery and can be loaded for it. */
const deliverable = async () => {
  const { db } = app.core
  const entries = await db.selectFrom('webhook_queue').select('id').execute()
  const jobs = await queue.load(
    db,
    entries.map(({ id }) => id),
    at(0),
  )
  return jobs.map(({ event }) => event.id)
}

it('stores an event and its queue entry with one time, in the day of today', async () => {
  await makeWebhookDays.run(app.core)
  await acme.post('/api/v1/domains/', { domain: 'days.acme.test' })
  const stored = await places()
  expect(Object.keys(stored)).not.toEqual([])
  expect(new Set(Object.values(stored))).toEqual(new Set([nameOf(0)]))
  expect((await deliverable()).sort()).toEqual(Object.keys(stored).sort())
})

it('numbers the events of all days in one order', async () => {
  await makeDay(-1)
  await makeWebhookDays.run(app.core)
  for (const [id, days] of [
    ['one', -1],
    ['two', 0],
    ['three', -9],
    ['four', -1],
  ] as const) {
    await insert(id, at(days))
  }
  const rows = await app.core.db.selectFrom('events').select('id').orderBy('sequence').execute()
  expect(rows.map(({ id }) => id)).toEqual(['one', 'two', 'three', 'four'])
})

it('finds the events of queue entries and of ids by indexes', async () => {
  await makeWebhookDays.run(app.core)
  await insert('one', at(0))
  await enqueue('one')
  const plans = await plansOf(app.core.db, async (db) => {
    await queue.load(db, [1], at(0))
    expect(await isStored(db, 'one')).toBe(true)
  })
  expect(plans).toHaveLength(2)
  expect(plans.filter((plan) => /Seq Scan on events/.test(plan))).toEqual([])
})

it('reads the days that a list of activity asks for, and events that were kept from older ones', async () => {
  for (const days of [3, 2, 1]) await makeDay(-days)
  await makeWebhookDays.run(app.core)
  for (const days of [3, 2, 1, 0]) await insert(`${days} days ago`, at(-days), 'mailbox.created')
  const from = midnightOf(at(-2))
  const asked = { kind: 'event' as const, from, to: new Date(from.getTime() + DAY_MS - 1) }
  const page = { page: 1, perPage: 10, offset: 0 }
  const days = await daysReadBy(app.core.db, async (db) => {
    const scope = { organization: acme.organizationId }
    const { rows } = await activity.list(db, scope, asked, page)
    expect(rows).toMatchObject([{ id: '2 days ago' }])
  })
  expect(days).toEqual([nameOf(-2)])
})

describe('the days that have expired', () => {
  const old = SENT_DAYS + 1
  beforeEach(() => makeDay(-old))

  it('leave what is still queued until it is delivered, and activity for its own time', async () => {
    for (const id of ['sent', 'queued']) await insert(id, at(-old))
    await insert('activity', at(-old), 'mailbox.created')
    await insert('young', midnightOf(at(-SENT_DAYS)))
    await insert('queued for long', at(-old - 200))
    for (const id of ['queued', 'queued for long']) await enqueue(id)
    expect((await cleanUp()).body.deleted_events).toBe(1)
    expect(await dayNames()).not.toContain(nameOf(-old))
    expect(Object.keys(await places())).toEqual(['activity', 'queued', 'queued for long', 'young'])
    expect((await places()).queued).toBe('events_default')
    expect((await deliverable()).sort()).toEqual(['queued', 'queued for long'])

    await app.core.db.deleteFrom('webhook_queue').execute()
    expect((await cleanUp()).body.deleted_events).toBe(2)
    expect(Object.keys(await places())).toEqual(['activity', 'young'])
    app.clock.advance(ACTIVITY_RETENTION_DAYS * DAY_MS)
    await cleanUp()
    expect(await places()).toEqual({})
  })

  it('drop the events of today when the clock was set ahead, and later ones are stored', async () => {
    await insert('before', new Date())
    app.clock.advance(9 * DAY_MS)
    await makeWebhookDays.run(app.core)
    await insert('after', new Date())
    await cleanUp()
    expect(await places()).toEqual({})
    await insert('later', new Date())
    expect(Object.keys(await places())).toEqual(['later'])
  })

  /** Replays the event while the clean-up runs, and commits once this condition is true. */
  async function replayBeside(isMet: (begin: string) => RawBuilder<SqlBool>) {
    const { db } = app.core
    const begin = at(0).toISOString()
    let cleaning: ReturnType<typeof cleanUp> | undefined
    await db.transaction().execute(async (tx) => {
      await holdEvents(tx, ['replayed'])
      await queue.enqueueAgain(tx, 'replayed', null)
      cleaning = cleanUp()
      await waitFor(async () => {
        const { rows } = await sql<{ met: boolean }>`select ${isMet(begin)} as met`.execute(db)
        return rows[0]?.met
      })
    })
    expect(await cleaning).toMatchObject({ status: 200 })
  }

  it('keep an event whose replay commits while the clean-up waits for the day', async () => {
    await insert('replayed', at(-old))
    const day = `days.${nameOf(-old)}`
    await replayBeside(
      () => sql`exists (select from pg_locks where not granted and relation = to_regclass(${day}))`,
    )
    expect(await places()).toEqual({ replayed: 'events_default' })
    expect(await deliverable()).toEqual(['replayed'])
  })

  it('keep an event without a day whose replay commits after the clean-up', async () => {
    await cleanUp()
    await insert('replayed', at(-old))
    await replayBeside(
      (begin) => sql`(select finished_at >= ${begin}::timestamptz from webhook_cleanup)`,
    )
    await cleanUp()
    expect(await deliverable()).toEqual(['replayed'])
  })
})

it('upgrades a database with events: none is lost, those that are queued are delivered', () =>
  withOldDatabase(app, '0030_certificate_contents.sql', async (sql, core) => {
    await sql`
      insert into events (id, event, source, org_id, data, created_at)
      select 'event-' || n, case n % 10 when 0 then 'mailbox.created' else 'email.delivered' end,
        'api', 'acme', '{}', now() - n * interval '1 hour'
      from generate_series(0, 199) as n`
    await sql`
      insert into webhook_queue (event_id, lane)
      select 'event-' || n, 0 from generate_series(1, 199, 20) as n`
    const stored = () => sql`select * from events order by sequence`
    const before = await stored()
    await migrate(sql)
    expect(await stored()).toEqual(before)

    await makeWebhookDays.run(core)
    await sql`
      insert into events (id, event, source, data) values ('new', 'email.delivered', 'api', '{}')`
    const newest = (await stored()).at(-1)
    expect(newest).toMatchObject({ id: 'new' })
    expect(newest?.sequence).toBeGreaterThan(before.at(-1)?.sequence)

    await cleanupService(core).run()
    const oldest = midnightOf(new Date(Date.now() - SENT_DAYS * DAY_MS)).toISOString()
    const isLeft = ({ id, event, created_at }: (typeof before)[number]) =>
      created_at >= oldest || event === 'mailbox.created' || Number(id.slice(6)) % 20 === 1
    expect((await stored()).map(({ id }) => id)).toEqual([
      ...before.filter(isLeft).map(({ id }) => id),
      'new',
    ])
    const entries = await sql`select id from webhook_queue`
    const jobs = await queue.load(
      core.db,
      entries.map(({ id }) => id),
      new Date(),
    )
    expect(jobs).toHaveLength(10)
  }))
