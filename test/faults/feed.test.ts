import postgres, { type Sql } from 'postgres'
import { afterEach, expect, it } from 'vitest'
import type { Target } from '../../src/database/database.ts'
import { runningEmbedded, urlOf } from '../../src/database/embedded.ts'
import { sha256 } from '../../src/lib/tokens.ts'
import { installation } from '../support/installation.ts'
import { cleanUp, run, startServer, until } from '../support/process.ts'

afterEach(cleanUp)

it('a key revoked while the change feed is down is refused, and the cache works again afterwards', async () => {
  const made = await installation()
  const server = await startServer(made)
  const url = urlOf(runningEmbedded(made.dataDir) as Target)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  const elsewhere = postgres(url.replace(/\w+$/, 'postgres'), { max: 1 })
  const status = async (key: string) =>
    (await server.send('GET', '/api/v1/auth/me', { headers: { 'x-api-key': key } })).status
  const second = await run(
    ['keys', 'create', '--organization', made.organizationId, '--name', 'second', '--json'],
    { DATA_DIR: made.dataDir },
  )
  const other = JSON.parse(second.stdout).api_key as string
  const activate = (key: string, active: boolean) =>
    sql`update api_keys set active = ${active} where key_hash = ${sha256(key)}`
  expect([await status(made.apiKey), await status(other)]).toEqual([200, 200])

  // Opens the connection of this test and the one that counts failed logins.
  await sql`select 1`
  expect(await status('wrong')).toBe(401)
  // Open connections stay open, but the change feed cannot reconnect.
  await elsewhere`alter database mailplane allow_connections false`
  expect(await cutFeed(elsewhere)).toBe(1)
  await activate(made.apiKey, false)
  await until(async () => (await status(made.apiKey)) === 401, 30_000)
  expect(await status(other)).toBe(200)

  await elsewhere`alter database mailplane allow_connections true`
  await until(async () => (await feeds(sql)) === 1)
  // A change without a notification is not seen, so the response comes from the cache.
  await until(async () => (await status(other)) === 200)
  await sql`alter table api_keys disable trigger api_keys_notify_access`
  await activate(other, false)
  expect(await status(other)).toBe(200)
  await sql`alter table api_keys enable trigger api_keys_notify_access`
  await activate(other, false)
  await until(async () => (await status(other)) === 401, 30_000)
  await Promise.all([sql.end(), elsewhere.end()])
})

const cutFeed = async (sql: Sql) =>
  (
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where application_name = 'mailplane feed'`
  ).count

const feeds = async (sql: Sql) =>
  (
    await sql`select 1 from pg_stat_activity
      where application_name = 'mailplane feed' and query like 'listen %'`
  ).count
