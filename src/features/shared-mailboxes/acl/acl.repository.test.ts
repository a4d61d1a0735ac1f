import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { newLease } from '../../../jobs/lease.ts'
import { claim, finish } from './acl.repository.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('keeps a rights entry due that is marked again while it is being finished', async () => {
  const { db } = app.core
  const mark = (on: typeof db) =>
    sql`select mark_shared_rights(array['desk@acme.test'])`.execute(on)
  await mark(db)
  const lease = newLease(30)
  const [one] = await claim(db, lease, 1)
  if (!one) throw new Error('nothing is due')
  const finished = await db.transaction().execute(async (tx) => {
    await mark(tx)
    const waiting = finish(db, one, lease)
    await isBlocked()
    return { waiting }
  })
  await finished.waiting
  expect(await claim(db, lease, 1)).toEqual([{ ...one, changes: 2 }])
  await finish(db, { ...one, changes: 2 }, lease)
  expect(await claim(db, lease, 1)).toEqual([])
})

async function isBlocked(): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(app.core.db)
    if (rows.length > 0) return
  }
}
