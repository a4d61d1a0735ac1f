import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { finish, lease } from './acl.repository.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

it('leaves what is marked in the very moment it is finished due at once', async () => {
  const { db } = app.core
  const mark = (on: typeof db) =>
    sql`select mark_shared_rights(array['desk@acme.test'])`.execute(on)
  await mark(db)
  const [one] = await lease(db, 1)
  if (!one) throw new Error('nothing is due')
  const finished = await db.transaction().execute(async (tx) => {
    await mark(tx)
    const waiting = finish(db, one)
    await isBlocked()
    return { waiting }
  })
  await finished.waiting
  expect(await lease(db, 1)).toEqual([{ ...one, changes: 2 }])
  await finish(db, { ...one, changes: 2 })
  expect(await lease(db, 1)).toEqual([])
})

async function isBlocked(): Promise<void> {
  for (;;) {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(app.core.db)
    if (rows.length > 0) return
  }
}
