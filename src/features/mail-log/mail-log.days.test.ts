import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../../test/support/app.ts'
import { daysOf, daysReadBy } from '../../../test/support/days.ts'
import { untilBlocked } from '../../../test/support/locks.ts'
import { withOldDatabase } from '../../../test/support/old-database.ts'
import { migrate } from '../../database/migrate.ts'
import { pastDays } from '../../hosting/past-days.ts'
import { DAY_MS } from '../../lib/time.ts'
import * as trace from '../message-trace/trace.repository.ts'
import { keepLogDays, mailLog, makeLogDays } from './mail-log.days.ts'
import { insertNew } from './mail-log.repository.ts'

const REASON = 'As agreed with the customer'

let app: App
let owner: Awaited<ReturnType<App['operator']>>
let acme: Awaited<ReturnType<App['tenant']>>
let globex: Awaited<ReturnType<App['tenant']>>
beforeAll(async () => {
  app = await startApp()
  owner = await app.operator('owner')
  acme = await app.tenant('acme')
  globex = await app.tenant('globex')
})
afterAll(() => app.stop())
beforeEach(() => app.core.db.deleteFrom('mail_log').execute())

const { at, dayNames, makeDay, nameOf, places } = daysOf(() => app, mailLog)
const row = (id: string, days: number, tenant = acme) => ({
  id,
  timestamp: at(days).toISOString(),
  sender: 'a@elsewhere.test',
  recipient: tenant.email,
  organization_id: tenant.organizationId,
  status: 'delivered' as const,
  subject: `Subject of ${id}`,
})
const insert = (...rows: ReturnType<typeof row>[]) =>
  app.core.db.insertInto('mail_log').values(rows).execute()
/** The ids that an operator finds in the trace. */
const traced = async () => {
  const { body } = await owner.get('/api/v1/message-trace/trace?limit=100')
  return body.data.map(({ id }: { id: string }) => id).sort()
}

it('makes today and the next days, and rows of other days are stored all the same', async () => {
  await makeLogDays(app.core)
  await insert(row('past', -40), row('today', 0), row('next', 3), row('later', 9))
  expect(await places()).toEqual({
    past: 'mail_log_default',
    today: nameOf(0),
    next: nameOf(3),
    later: 'mail_log_default',
  })
  expect(await makeLogDays(app.core)).toBe(0)

  app.clock.advance(9 * DAY_MS)
  owner = await app.operator('owner')
  expect(await makeLogDays(app.core)).toBe(4)
  expect((await places()).later).toBe(nameOf(0))
  expect(await traced()).toEqual(['later', 'next', 'past', 'today'])
})

it('makes a day once when several processes begin together', async () => {
  app.clock.advance(9 * DAY_MS)
  owner = await app.operator('owner')
  const made = await Promise.all([1, 2, 3].map(() => makeLogDays(app.core)))
  expect(made.reduce((sum, count) => sum + count)).toBe(4)
})

it('stores a row that comes while its day is made, in that day', async () => {
  app.clock.advance(9 * DAY_MS)
  owner = await app.operator('owner')
  const { db } = app.core
  let arriving: Promise<unknown> | undefined
  await db.transaction().execute(async (tx) => {
    await makeDay(0, tx)
    arriving = insert(row('meanwhile', 0))
    await untilBlocked(db)
  })
  await arriving
  expect(await places()).toEqual({ meanwhile: nameOf(0) })
})

it('stores a log that is read twice once, on either side of midnight', async () => {
  await makeLogDays(app.core)
  const attempts = [row('late', -1), row('early', 0)]
  const store = (rows: typeof attempts) =>
    app.core.db
      .transaction()
      .execute((tx) => insertNew(tx, rows as unknown as Parameters<typeof insertNew>[1]))
  expect(await store(attempts)).toHaveLength(2)
  expect((await store([...attempts, row('new', 0)])).map(({ id }) => id)).toEqual(['new'])
  expect(Object.keys(await places())).toEqual(['early', 'late', 'new'])
})

it('reads the days that a search asks for and no others', async () => {
  for (const days of [3, 2, 1]) await makeDay(-days)
  await makeLogDays(app.core)
  await insert(row('three', -3), row('two', -2), row('one', -1), row('today', 0))
  const midnight = new Date(`${at(-2).toISOString().slice(0, 10)}T00:00:00Z`)
  const day = { from: midnight, to: new Date(midnight.getTime() + DAY_MS - 1) }
  for (const filter of [{}, { recipient: acme.email }, { subject: 'subject of' }]) {
    const days = await daysReadBy(app.core.db, async (db) => {
      const found = await trace.list(
        db,
        pastDays(app.core),
        { ...day, ...filter },
        { limit: 10, offset: 0 },
      )
      expect(found.map(({ id }) => id)).toEqual(['two'])
    })
    expect(days).toEqual([nameOf(-2)])
  }
})

it('finds a subject by an index in the days that are over', async () => {
  for (const days of [6, 5]) await makeDay(-days)
  await insert(row('five', -5), row('six', -6), row('today', 0))
  await keepLogDays.run(app.core)
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index
    where indisvalid and indexrelid::regclass::text like 'days.mail_log_%_subject'`.execute(
    app.core.db,
  )
  const names = rows.map(({ name }) => name)
  expect(names).toContain(`days.${nameOf(-5)}_subject`)
  expect(names).not.toContain(`days.${nameOf(0)}_subject`)
  const found = await owner.get('/api/v1/message-trace/trace?subject=OF+FIVE')
  expect(found.body.data).toMatchObject([{ id: 'five' }])
})

describe('the days that have expired', () => {
  // The default.
  const MAIL_LOG_RETENTION_DAYS = 90
  const old = MAIL_LOG_RETENTION_DAYS + 2
  const older = MAIL_LOG_RETENTION_DAYS + 3
  beforeEach(async () => {
    await makeDay(-old)
    await makeDay(-MAIL_LOG_RETENTION_DAYS)
  })

  it('are dropped, and old rows outside of them are deleted', async () => {
    const last = MAIL_LOG_RETENTION_DAYS
    await insert(row('old', -old), row('older', -older), row('last', -last), row('new', -1))
    expect(await dayNames()).toContain(nameOf(-old))
    await keepLogDays.run(app.core)
    expect(await dayNames()).not.toContain(nameOf(-old))
    expect(await traced()).toEqual(['last', 'new'])
  })

  it('stay while a backup reads them, without a delay for writers, and go with the next run', async () => {
    await insert(row('old', -old), row('new', -1))
    // pg_dump has this lock on every table until its end.
    const { promise: isOver, resolve: end } = Promise.withResolvers<void>()
    const { promise: isReading, resolve: begin } = Promise.withResolvers<void>()
    const backup = app.core.db.transaction().execute(async (tx) => {
      await sql`lock table mail_log in access share mode`.execute(tx)
      begin()
      await isOver
    })
    await isReading
    await expect(keepLogDays.run(app.core)).rejects.toMatchObject({ code: '55P03' })
    await insert(row('newer', 0))
    expect(await traced()).toEqual(['new', 'newer', 'old'])
    end()
    await backup
    await keepLogDays.run(app.core)
    expect(await traced()).toEqual(['new', 'newer'])
  })

  it('leave the rows under a legal hold, until it is released', async () => {
    const hold = await owner.post('/api/v1/compliance/legal-holds', {
      organization_id: acme.organizationId,
      name: 'Case 12',
      custodians: [acme.email],
      reason: REASON,
    })
    await insert(
      row('held', -old),
      row('older held', -older),
      { ...row('of a colleague', -old), recipient: `colleague@${acme.domain}` },
      row('of another tenant', -old, globex),
    )
    await keepLogDays.run(app.core)
    expect(await dayNames()).not.toContain(nameOf(-old))
    expect(await traced()).toEqual(['held', 'older held'])

    const path = `/api/v1/compliance/legal-holds/${hold.body.data.id}/release`
    expect(await owner.post(path, { reason: REASON })).toMatchObject({ status: 200 })
    await keepLogDays.run(app.core)
    expect(await traced()).toEqual([])
  })

  it('leave the rows that the policy of an organization keeps for longer', async () => {
    await owner.put(`/api/v1/compliance/retention-policies/${acme.organizationId}`, {
      retention_days: 365,
      reason: REASON,
    })
    await app.core.db
      .updateTable('retention_policies')
      .set({ applies_from: app.clock.now().toISOString() })
      .execute()
    await insert(row('kept', -old), row('too old', -400), row('of another tenant', -old, globex))
    await keepLogDays.run(app.core)
    expect(await traced()).toEqual(['kept'])
    await owner.delete(`/api/v1/compliance/retention-policies/${acme.organizationId}`, {
      reason: REASON,
    })
  })

  it('are not counted again in the figures', async () => {
    const pending = async () =>
      (await app.core.db.selectFrom('mail_traffic_pending').select('id').execute()).length
    await insert(row('old', -old))
    const before = await pending()
    await makeDay(-older)
    await keepLogDays.run(app.core)
    expect(await pending()).toBe(before)
  })
})

it('upgrades a log with rows: all are found, none is counted twice, and old ones expire', () =>
  withOldDatabase(app, '0021_url_protection.sql', async (sql, core) => {
    await sql`
      insert into mail_log (id, "timestamp", recipient, status, message_id)
      select 'row-' || n, now() - n * interval '1 hour', 'jane@acme.test', 'delivered', 'm' || n
      from generate_series(0, 4999) as n`
    await sql`
      insert into mail_log (id, "timestamp", status)
      values ('of tomorrow', now() + interval '1 day', 'delivered')`
    await migrate(sql)

    await makeLogDays(core)
    const count = async () => {
      const [found] = await sql`select count(*)::int as rows from mail_log`
      return found?.rows
    }
    expect(await count()).toBe(5001)
    await sql`insert into mail_log select * from mail_log on conflict do nothing`
    expect(await count()).toBe(5001)
    await keepLogDays.run(core)
    const [left] = await sql`
      select count(*)::int as rows, min("timestamp") >= now() - interval '91 days' as young
      from mail_log`
    expect(left).toMatchObject({ rows: expect.closeTo(91 * 24, -2), young: true })
  }))
