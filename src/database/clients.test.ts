import { type AddressInfo, connect, createServer } from 'node:net'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../../test/support/postgres.ts'
import { freePort } from '../lib/free-port.ts'
import { type Database, type Db, openDatabase } from './database.ts'

const CONNECTIONS = 2
let clone: Awaited<ReturnType<typeof cloneDatabase>>
let database: Database
beforeEach(async () => {
  clone = await cloneDatabase(inject('databaseUrl'))
  database = openDatabase(clone.url, { pool: 2 * CONNECTIONS, name: 'transactions' })
})
afterEach(async () => {
  await database.close()
  await clone.drop()
})

async function backendOf(db: Db): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)
  return rows[0]?.pid ?? 0
}
const inTransaction = () => database.db.transaction().execute(backendOf)
const terminate = (pid: number) =>
  sql`select pg_terminate_backend(${pid}, 5000)`.execute(database.db)

it('runs more transactions than there are connections, one after the other', async () => {
  const slow = () =>
    database.db.transaction().execute(async (tx) => {
      await sql`select pg_sleep(0.02)`.execute(tx)
      return backendOf(tx)
    })
  const pids = await Promise.all(Array.from({ length: 10 }, slow))
  expect(new Set(pids).size).toBe(CONNECTIONS)
})

it('opens a new connection after an idle one was closed by the server', async () => {
  const before = await inTransaction()
  await terminate(before)
  expect(await inTransaction()).not.toBe(before)
})

it('keeps all connections usable after transactions have lost theirs', async () => {
  for (let time = 0; time < 2 * CONNECTIONS; time++) {
    const lost = database.db.transaction().execute(async (tx) => {
      await terminate(await backendOf(tx))
      await backendOf(tx)
    })
    await expect(lost).rejects.toThrow()
  }
  const pids = await Promise.all(Array.from({ length: 10 }, inTransaction))
  expect(pids).toHaveLength(10)
})

it('keeps the connection when a statement is cancelled', async () => {
  let pid = 0
  const cancelled = database.db.transaction().execute(async (tx) => {
    pid = await backendOf(tx)
    await sql`set local statement_timeout = '20ms'`.execute(tx)
    await sql`select pg_sleep(5)`.execute(tx)
  })
  await expect(cancelled).rejects.toMatchObject({ code: '57014' })
  expect(await inTransaction()).toBe(pid)
})

it('rejects every transaction while the server cannot be reached', async () => {
  const nowhere = openDatabase(`postgres://nobody@127.0.0.1:${await freePort()}/none`, {
    pool: 2,
    name: 'nowhere',
  })
  for (let time = 0; time < 3; time++) {
    await expect(nowhere.db.transaction().execute(backendOf)).rejects.toThrow('ECONNREFUSED')
  }
  await nowhere.close()
})

it('gives a slow server more time to connect when statements may take longer', async () => {
  const { hostname, port } = new URL(clone.url)
  const slow = createServer((client) => {
    const forward = () => client.pipe(connect(Number(port), hostname)).pipe(client)
    // Longer than the attempts of the default take.
    setTimeout(forward, 5500)
  })
  await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve))
  const url = new URL(clone.url)
  url.port = String((slow.address() as AddressInfo).port)
  const patient = openDatabase(url.href, { pool: 2, name: 'patient', timeout: 120 })
  const { rows } = await sql`select 1 as one`.execute(patient.db)
  expect(rows).toEqual([{ one: 1 }])
  await patient.close()
  await new Promise((resolve) => slow.close(resolve))
})
