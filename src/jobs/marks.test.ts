import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import { untilBlocked } from '../../test/support/locks.ts'
import { newLease } from './lease.ts'
import { marksIn } from './marks.ts'

const marks = marksIn('shared_mailbox_rights_pending', { key: 'email' })

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())
beforeEach(() => app.core.db.deleteFrom('shared_mailbox_rights_pending').execute())

const mark = (on: App['core']['db']) =>
  sql`select mark_shared_rights(array['desk@acme.test'])`.execute(on)

async function claimed() {
  const lease = newLease(30)
  const [one] = await marks.claim(app.core.db, lease, 1)
  if (!one) throw new Error('nothing is due')
  return { one, lease }
}

/** A column of the only mark, or of an expression over it. */
async function stored(on: App['core']['db'], value: RawBuilder<unknown>): Promise<unknown> {
  const { rows } = await sql<{ value: unknown }>`
    select ${value} as value from shared_mailbox_rights_pending`.execute(on)
  return rows[0]?.value
}

it('deletes a mark that is finished, and no mark of another lease', async () => {
  const { db } = app.core
  await mark(db)
  const { one, lease } = await claimed()
  expect(one).toEqual({ email: 'desk@acme.test', changes: 1, attempts: 0 })
  expect(await marks.claim(db, newLease(30), 1)).toEqual([])
  await marks.finish(db, one, newLease(30))
  await marks.postpone(db, one, newLease(30), 60)
  expect(await stored(db, sql`array[attempts, changes]`)).toEqual([0, 1])
  await marks.finish(db, one, lease)
  expect(await stored(db, sql`1`)).toBeUndefined()
})

it('keeps a mark due that is set again while it is being finished', async () => {
  const { db } = app.core
  await mark(db)
  const { one, lease } = await claimed()
  const finished = await db.transaction().execute(async (tx) => {
    await mark(tx)
    const waiting = marks.finish(db, one, lease)
    await untilBlocked(db)
    return { waiting }
  })
  await finished.waiting
  expect((await claimed()).one).toEqual({ ...one, changes: 2 })
})

it('waits longer after each attempt that fails, up to a limit', async () => {
  const { db } = app.core
  await mark(db)
  const waits: unknown[] = []
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const { one, lease } = await claimed()
    expect(one.attempts).toBe(attempt)
    // One transaction has one now().
    await db.transaction().execute(async (tx) => {
      await marks.postpone(tx, one, lease, 5)
      expect(await marks.claim(tx, newLease(30), 1)).toEqual([])
      waits.push(await stored(tx, sql`extract(epoch from due_at - now())::int`))
    })
    await sql`update shared_mailbox_rights_pending set due_at = now()`.execute(db)
  }
  expect(waits).toEqual([1, 2, 4, 5, 5])
})
