import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { daysOf, daysReadBy, plansOf } from '../../../test/support/days.ts'
import { withOldDatabase } from '../../../test/support/old-database.ts'
import { trackedMessage } from '../../../test/support/tracked.ts'
import { migrate } from '../../database/migrate.ts'
import { midnightOf } from '../../lib/dates.ts'
import { DAY_MS } from '../../lib/time.ts'
import { recordsOf } from '../compliance/personal-data/records.repository.ts'
import { register } from '../compliance/personal-data/register.ts'
import { engagementOf } from '../messages/messages.repository.ts'
import { forgetTracking, makeTrackingDays, trackingEvents } from './tracking.jobs.ts'
import * as events from './tracking-events.repository.ts'

// The default.
const TRACKING_DATA_RETENTION_DAYS = 365

let app: App
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())
beforeEach(() => app.core.db.deleteFrom('tracking_events').execute())

const { at, dayNames, makeDay, nameOf, places } = daysOf(() => app, trackingEvents)
const ids = async () => Object.keys(await places())

const row = (
  id: string,
  time: Date,
  { organization = acme.organizationId, emailId = 'one@acme.test' } = {},
) => ({
  id,
  organization_id: organization,
  domain: acme.domain,
  email_id: emailId,
  recipient: 'jane@far.test',
  event_type: 'opened' as const,
  created_at: time.toISOString(),
})
const insert = (...rows: ReturnType<typeof row>[]) =>
  app.core.db.insertInto('tracking_events').values(rows).execute()

it('makes today and the next days, and events of other days are stored all the same', async () => {
  await makeTrackingDays(app.core)
  await insert(row('past', at(-9)), row('today', at(0)), row('later', at(9)))
  expect(await places()).toEqual({
    past: 'tracking_events_default',
    today: nameOf(0),
    later: 'tracking_events_default',
  })
})

it('drops the days that have expired and deletes old events outside of them', async () => {
  const end = midnightOf(at(-TRACKING_DATA_RETENTION_DAYS))
  await makeDay(-TRACKING_DATA_RETENTION_DAYS - 1)
  await insert(
    row('without a day', at(-TRACKING_DATA_RETENTION_DAYS - 9)),
    row('last of the old', new Date(end.getTime() - 1)),
    row('first of the young', end),
  )
  await forgetTracking.run(app.core)
  expect(await ids()).toEqual(['first of the young'])
  const days = await dayNames()
  expect(days).not.toContain(nameOf(-TRACKING_DATA_RETENTION_DAYS - 1))
})

it('deletes the events of an organization with it, in every day', async () => {
  const { db } = app.core
  await db.insertInto('organizations').values({ id: 'gone', name: 'Gone' }).execute()
  for (const days of [2, 1]) await makeDay(-days)
  await insert(row('kept', at(-1)))
  for (const days of [9, 2, 1, 0]) await insert(row(`${days}`, at(-days), { organization: 'gone' }))
  await db.deleteFrom('organizations').where('id', '=', 'gone').execute()
  expect(await ids()).toEqual(['kept'])
})

it('exports the events of a person once each, from every day', async () => {
  await makeDay(-1)
  await makeTrackingDays(app.core)
  const rows = Array.from({ length: 700 }, (_, n) => [
    row(`without a day ${n}`, at(-5)),
    row(`yesterday ${n}`, at(-1)),
    row(`today ${n}`, at(0)),
  ]).flat()
  await insert(...rows)
  const person = { email: 'jane@far.test', account_id: null, organization_id: null }
  const exported: unknown[] = []
  for (const entry of register.filter(({ table }) => table === 'tracking_events')) {
    for await (const { id } of recordsOf(app.core.db, entry, person)) exported.push(id)
  }
  expect(exported.sort()).toEqual(rows.map(({ id }) => id).sort())
})

it('reads the days since a message was sent, and none before', async () => {
  for (const days of [5, 4, 2, 1]) await makeDay(-days)
  await makeTrackingDays(app.core)
  const { emailId } = await trackedMessage(app, acme)
  await app.core.db
    .updateTable('tracked_messages')
    .set({ created_at: midnightOf(at(-1)).toISOString() })
    .where('email_id', '=', emailId)
    .execute()
  await insert(
    row('opened', at(0), { emailId }),
    row('of another message', at(-4)),
    row('of another tenant', at(0), { organization: globex.organizationId, emailId }),
  )
  const scope = { organization: acme.organizationId }
  const message = await events.findMessage(app.core.db, scope, emailId)
  if (!message) throw new Error('the message was not found')
  const days = await daysReadBy(app.core.db, async (db) => {
    const timeline = await events.timelineOfMessage(db, scope, message, 10)
    expect(timeline).toMatchObject([{ id: 'opened' }])
    await events.countsOfMessage(db, scope, message)
    await events.countsOfDomain(db, acme.domain, acme.organizationId, midnightOf(at(-2)))
    await engagementOf(db, scope, emailId, midnightOf(at(-2)))
  })
  expect(days).not.toContain(nameOf(-5))
  expect(days).not.toContain(nameOf(-4))
  expect(days).toEqual(expect.arrayContaining([nameOf(-2), nameOf(-1), nameOf(0)]))
})

it('finds the events of a message, a domain and a bouncing recipient by indexes', async () => {
  await insert(row('opened', at(0)))
  const scope = { organization: acme.organizationId }
  const plans = await plansOf(app.core.db, async (db) => {
    expect(await events.findMessage(db, scope, 'one@acme.test')).toBeDefined()
    await events.countsOfDomain(db, acme.domain, acme.organizationId, at(-2))
    await events.softBounces(db as never, acme.organizationId, 'jane@far.test', at(-2))
    await events.forgetAddresses(db, at(-2), 10)
  })
  expect(plans).toHaveLength(5)
  expect(plans.filter((plan) => plan.includes('Seq Scan'))).toEqual([])
})

it('upgrades a database with events: all are found, none twice, and old ones expire', () =>
  withOldDatabase(app, '0030_certificate_contents.sql', async (sql, core) => {
    await sql`insert into organizations (id, name) values ('acme', 'Acme'), ('gone', 'Gone')`
    await sql`
      insert into tracking_events (id, organization_id, domain, recipient, event_type, created_at)
      select 'event-' || n, case n % 10 when 0 then 'gone' else 'acme' end, 'acme.test',
        'jane@far.test', 'opened', now() - n * interval '1 day'
      from generate_series(0, 399) as n`
    const stored = () => sql`select * from tracking_events order by id`
    const before = await stored()
    await migrate(sql)
    expect(await stored()).toEqual(before)

    await makeTrackingDays(core)
    await sql`insert into tracking_events select * from tracking_events on conflict do nothing`
    expect(await stored()).toHaveLength(400)
    await sql`delete from organizations where id = 'gone'`
    await forgetTracking.run(core)
    const oldest = midnightOf(new Date(Date.now() - TRACKING_DATA_RETENTION_DAYS * DAY_MS))
    expect((await stored()).map(({ id }) => id)).toEqual(
      before
        .filter((one) => one.organization_id === 'acme' && one.created_at >= oldest.toISOString())
        .map(({ id }) => id),
    )
  }))
