import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type App, startApp } from '../../../../test/support/app.ts'
import { LeaseLost, newLease } from '../../../jobs/lease.ts'
import { claim, finish, postpone, setLosing } from './acl.repository.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

const mark = (on: App['core']['db']) =>
  sql`select mark_shared_rights(array['desk@acme.test'])`.execute(on)

it('keeps those who lose rights until their sessions are ended, also when marked again', async () => {
  const { db } = app.core
  const claimed = async (lease = newLease(30)) => ({ one: (await claim(db, lease, 1))[0], lease })
  await mark(db)
  const first = await claimed()
  await setLosing(db, 'desk@acme.test', ['jane@acme.test'], first.lease)
  await mark(db)
  if (!first.one) throw new Error('nothing is due')
  await postpone(db, first.one, first.lease, 0)
  const second = await claimed()
  if (!second.one) throw new Error('nothing is due')
  expect(second.one).toMatchObject({ changes: 2, losing: ['jane@acme.test'] })
  await expect(setLosing(db, 'desk@acme.test', [], first.lease)).rejects.toThrow(LeaseLost)
  await mark(db)
  await finish(db, second.one, second.lease)
  const third = await claimed()
  if (!third.one) throw new Error('nothing is due')
  expect(third.one).toMatchObject({ changes: 3, losing: [] })
  await finish(db, third.one, third.lease)
})
