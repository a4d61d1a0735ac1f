import { afterEach, expect, inject, it } from 'vitest'
import { connect } from '../../src/database/database.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, startServer, temporaryFolder, until } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { emitMany, expectNothingLost, receipts, recorded } from '../support/webhook-events.ts'

const EVENTS = 5000
const WORKERS = 8
const EVENT = 'event'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await cleanUp()
  for (const undo of cleanUps.splice(0).reverse()) await undo()
})

/** A separate database, and daemons on it that only deliver. */
async function setUp() {
  const receiver = await startReceiver()
  cleanUps.push(receiver.stop)
  const database = await cloneDatabase(inject('databaseUrl'))
  cleanUps.push(database.drop)
  const sql = connect(database.url, { max: 1 })
  cleanUps.push(() => sql.end())
  const daemon = (url = database.url) =>
    startServer({
      dataDir: temporaryFolder(),
      args: ['--services', 'webhooks'],
      env: {
        DATABASE_URL: url,
        SVC_SECRET_KEY: 'the root key that all daemons have',
        WEBHOOK_URL: receiver.url,
        WEBHOOK_WORKERS: String(WORKERS),
        WEBHOOK_TIMEOUT: '5',
        WEBHOOK_RETRY_SCHEDULE: '1',
      },
    })
  return { receiver, database, sql, daemon }
}

it('no event is lost when one of two webhook daemons on one PostgreSQL is killed', async () => {
  const { receiver, sql, daemon } = await setUp()
  const [one] = await Promise.all([daemon(), daemon()])
  const shares = async () => {
    const rows = await sql`
      select count(*) as lanes from webhook_lanes where lease_until > now() group by lease_owner`
    return rows.map(({ lanes }) => lanes)
  }
  // The first daemon had claimed all shares.
  await until(async () => `${await shares()}` === '32,32')
  await emitMany(sql, EVENT, EVENTS)
  await until(() => receiver.got.length > EVENTS / 5)
  await one.killNode()
  expect(receipts(receiver, EVENT).distinct).toBeLessThan(EVENTS)
  const { unrecorded } = await expectNothingLost(receiver, sql, EVENT, EVENTS)
  // Attempts in progress, and attempts whose response was not yet recorded.
  expect(unrecorded).toBeLessThanOrEqual(2 * WORKERS)
})

it('a delivery is recorded once when PostgreSQL committed it but the response was lost', async () => {
  const { receiver, database, sql, daemon } = await setUp()
  const proxy = await startCuttingProxy(database.url)
  cleanUps.push(proxy.stop)
  await daemon(proxy.url)
  // DELETE of one row records an outcome. PostgreSQL reports idle only after the commit.
  await emitMany(sql, 'first', 1)
  await until(async () => (await recorded(sql, 'first')).length === 1)
  proxy.cutAt('DELETE 1', 'Z\0\0\0\x05I')
  for (const prefix of ['cut', 'next']) {
    await emitMany(sql, prefix, 1)
    await until(async () => (await recorded(sql, prefix)).length === 1)
    await until(async () => (await sql`select from webhook_queue`).length === 0)
  }
  expect(proxy.cuts).toBe(1)
  for (const prefix of ['cut', 'next']) {
    expect(receipts(receiver, prefix)).toEqual({ distinct: 1, total: 1 })
    expect(await recorded(sql, prefix)).toMatchObject([{ statuses: ['delivered'] }])
  }
})
