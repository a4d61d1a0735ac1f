import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../test/support/app.ts'
import {
  claimNamed,
  claimRows,
  heldBy,
  type Lease,
  newLease,
  released,
  releaseLease,
  renewLease,
  underLease,
} from './lease.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())
beforeEach(async () => {
  await app.core.db.deleteFrom('data_exports').execute()
})

const insert = (...ids: string[]) =>
  app.core.db
    .insertInto('data_exports')
    .values(
      ids.map((id) => ({
        id,
        organization_id: 'acme',
        account_id: 'a',
        user_email: 'ada@acme.test',
        requested_by: 'test',
        // Not due: the exports of the app leave these rows alone.
        due_at: '2999-01-01',
      })),
    )
    .execute()
const claim = async (lease: Lease, limit = 1) => {
  const rows = await claimRows<{ id: string }>(app.core.db, 'data_exports', lease, {
    key: ['id'],
    where: sql`status = 'pending' or status = 'processing'`,
    orderBy: sql`id`,
    limit,
    set: sql`attempts = attempts + 1`,
    returning: sql`id`,
  })
  return rows.map(({ id }) => id)
}
/** Ends all leases, as if their holders had not renewed them. */
const lapse = () =>
  app.core.db
    .updateTable('data_exports')
    .set({ lease_until: sql`now() - interval '1 millisecond'` })
    .execute()
const write = async (id: string, lease: Lease) => {
  const { numUpdatedRows } = await app.core.db
    .updateTable('data_exports')
    .set({ error_message: 'written', ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

describe('a claim', () => {
  it('gives each row to one of many concurrent claims', async () => {
    const ids = Array.from({ length: 8 }, (_, index) => `row-${index}`)
    await insert(...ids)
    const claims = await Promise.all(
      Array.from({ length: 12 }, () => claim(newLease(30)).then(([id]) => id)),
    )
    expect(claims.filter((id) => id !== undefined).sort()).toEqual(ids)
  })

  it('takes the first rows of the order, up to the limit', async () => {
    await insert('c', 'a', 'b')
    expect((await claim(newLease(30), 2)).sort()).toEqual(['a', 'b'])
    expect(await claim(newLease(30), 2)).toEqual(['c'])
  })

  it('takes a row over when its lease has ended, and not before', async () => {
    await insert('row')
    expect(await claim(newLease(30))).toEqual(['row'])
    expect(await claim(newLease(30))).toEqual([])
    await lapse()
    expect(await claim(newLease(30))).toEqual(['row'])
  })
})

describe('a lease that was lost', () => {
  it('cannot be renewed or released, and its holder cannot write', async () => {
    await insert('row')
    const [lost, current] = [newLease(30), newLease(30)]
    await claim(lost)
    await lapse()
    await claim(current)
    expect(await renewLease(app.core.db, 'data_exports', { id: 'row' }, lost)).toBe(false)
    await releaseLease(app.core.db, 'data_exports', { id: 'row' }, lost)
    expect(await claim(newLease(30))).toEqual([])
    expect(await write('row', lost)).toBe(false)
    expect(await write('row', current)).toBe(true)
  })

  it('belongs to its holder after its end until another process claims the row', async () => {
    await insert('row')
    const lease = newLease(30)
    await claim(lease)
    await lapse()
    expect(await renewLease(app.core.db, 'data_exports', { id: 'row' }, lease)).toBe(true)
    expect(await claim(newLease(30))).toEqual([])
  })

  it('aborts the work that runs under it', async () => {
    await insert('row')
    const lease = newLease(1)
    await claim(lease)
    const reason = await underLease(
      app.core,
      'data_exports',
      { id: 'row' },
      lease,
      async (lost) => {
        await lapse()
        await claim(newLease(30))
        await new Promise((resolve) => lost.addEventListener('abort', resolve))
        return lost.reason
      },
    )
    expect(reason).toMatchObject({ message: 'another process has taken the work over' })
  })
})

it('a lease lasts from its renewal, also in a transaction that began long before', async () => {
  await insert('row')
  const lease = newLease(1)
  await claim(lease)
  await app.core.db.transaction().execute(async (tx) => {
    await sql`select pg_sleep(0.5)`.execute(tx)
    await renewLease(tx, 'data_exports', { id: 'row' }, lease)
  })
  const { rest } = await app.core.db
    .selectFrom('data_exports')
    .select(sql<number>`extract(epoch from lease_until - now())::float8`.as('rest'))
    .executeTakeFirstOrThrow()
  expect(rest).toBeGreaterThan(0.6)
})

describe('a named row', () => {
  const key = { name: 'host:/var/log/mail.log' }
  const take = (lease: Lease, force = false) =>
    claimNamed(app.core.db, 'mail_log_positions', key, lease, force)

  it('is inserted by the first claim, stays with it, and is free after its release', async () => {
    const [one, other] = [newLease(30), newLease(30)]
    expect(await take(one)).toBe(true)
    expect(await take(one)).toBe(true)
    expect(await take(other)).toBe(false)
    await releaseLease(app.core.db, 'mail_log_positions', key, one)
    expect(await take(other)).toBe(true)
    expect(await take(one)).toBe(false)
    expect(await take(one, true)).toBe(true)
    expect(await take(other)).toBe(false)
  })
})
