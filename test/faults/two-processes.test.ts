import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { PASSWORD } from '../support/app.ts'
import { cloneDatabase } from '../support/postgres.ts'
import {
  cleanUp,
  run,
  type Server,
  startServer,
  temporaryFolder,
  until,
} from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

const migrations = new URL('../../migrations/', import.meta.url)
const admin = { email: 'admin@acme.test', password: PASSWORD }

let database: Awaited<ReturnType<typeof cloneDatabase>>
let env: Record<string, string>
let sql: Sql
let one: Server
let other: Server
let organizationId: string

// The tests build on each other: an empty database, its bootstrap, then checks on both processes.
beforeAll(async () => {
  const empty = new URL(inject('databaseUrl'))
  empty.pathname = '/template1'
  database = await cloneDatabase(empty.href)
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  env = { DATABASE_URL: database.url, SVC_SECRET_KEY: 'the root key that both processes have' }
})
afterAll(async () => {
  await cleanUp()
  await sql.end()
  await database.drop()
})

it('two processes that start together migrate an empty database once', async () => {
  const start = () => startServer({ dataDir: temporaryFolder(), env })
  ;[one, other] = await Promise.all([start(), start()])
  const applied = await sql`select name from schema_migrations order by name`
  const files = readdirSync(migrations).filter((name) => name.endsWith('.sql'))
  expect(applied.map(({ name }) => name)).toEqual(files.sort())
  for (const server of [one, other]) {
    expect((await server.health()).status).toBe(200)
    expect(server.output.stderr).toBe('')
  }
})

it('exactly one of many concurrent bootstraps on both processes succeeds', async () => {
  const file = (server: Server) => join(server.dataDir, 'bootstrap-token')
  const servers = [one, other, one, other, one, other]
  const tokens = servers.map((server) => readFileSync(file(server), 'utf8').trim())
  const answers = await Promise.all(
    servers.map((server, index) =>
      server.send('POST', '/api/v1/bootstrap/', {
        headers: { 'x-bootstrap-token': tokens[index] as string },
        body: {
          organization_name: `Acme ${index}`,
          admin_email: admin.email,
          admin_password: PASSWORD,
        },
      }),
    ),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
  const organizations = await sql`select id from organizations`
  organizationId = answers.find(({ status }) => status === 200)?.body.data.organization_id
  expect(organizations.map(({ id }) => id)).toEqual([organizationId])
  await until(() => !existsSync(file(one)) && !existsSync(file(other)))
})

it('a key revoked on the command line is refused by every process at once', async () => {
  const created = await run(
    ['keys', 'create', '--organization', organizationId, '--name', 'both', '--json'],
    env,
  )
  const { key_id, api_key } = JSON.parse(created.stdout)
  expect(await statuses({ 'x-api-key': api_key })).toEqual([200, 200])
  expect((await run(['keys', 'revoke', key_id], env)).code).toBe(0)
  await until(async () => `${await statuses({ 'x-api-key': api_key })}` === '401,401', 30_000)
})

it('a session that logged out on one process is refused on the other', async () => {
  const jar = new Map<string, string>()
  await one.send('POST', '/api/v1/auth/login', { body: admin, jar })
  const before = new Map(jar)
  const cookie = Array.from(before, ([name, value]) => `${name}=${value}`).join('; ')
  expect(await statuses({ cookie })).toEqual([200, 200])
  const headers = { 'x-csrf-token': before.get('svc_csrf') as string }
  expect((await one.send('POST', '/api/v1/auth/logout', { headers, jar })).status).toBe(200)
  await until(async () => `${await statuses({ cookie })}` === '401,401', 30_000)
})

it('failed logins are counted across both processes', async () => {
  const from = '127.0.0.31'
  const fail = (server: Server) =>
    server.send('POST', '/api/v1/auth/login', {
      body: { email: 'nobody@acme.test', password: 'wrong' },
      from,
    })
  const answers = []
  for (const server of [one, other, one, other, one]) answers.push((await fail(server)).status)
  expect(answers).toEqual([401, 401, 401, 429, 429])
  const rows = await sql`select attempt_count from failed_auth_attempts
    where service = 'api' and (client_ip = ${from} or username = 'nobody@acme.test')`
  expect(rows.map(({ attempt_count }) => attempt_count)).toEqual([3, 3])
})

it('an IP address that tried too many keys on one process is refused on both', async () => {
  const from = '127.0.0.32'
  const created = await run(
    ['keys', 'create', '--organization', organizationId, '--name', 'good', '--json'],
    env,
  )
  const good = { 'x-api-key': JSON.parse(created.stdout).api_key }
  // Both processes have cached the key and need no lookup.
  expect(await statuses(good, from)).toEqual([200, 200])
  for (let count = 0; count < 5; count++) {
    const headers = { 'x-api-key': `wrong-${count}` }
    expect((await one.send('GET', '/api/v1/auth/me', { headers, from })).status).toBe(401)
  }
  await until(async () => `${await statuses(good, from)}` === '429,429', 30_000)
  expect(await statuses(good, '127.0.0.33')).toEqual([200, 200])
})

const statuses = (headers: Record<string, string>, from = '127.0.0.1') =>
  Promise.all(
    [one, other].map(
      async (server) => (await server.send('GET', '/api/v1/auth/me', { headers, from })).status,
    ),
  )

it('a delivery-only process delivers the events that another process stored', async () => {
  const receiver = await startReceiver()
  const listening = { ...env, WEBHOOK_URL: receiver.url, SVC_COOKIE_SECURE: 'false' }
  const writer = await startServer({
    dataDir: temporaryFolder(),
    env: listening,
    args: ['--services', 'api'],
  })
  const sender = await startServer({
    dataDir: temporaryFolder(),
    env: listening,
    args: ['--services', 'webhooks'],
  })
  expect((await sender.health()).body).toMatchObject({ status: 'healthy', service: 'webhooks' })
  expect((await sender.send('GET', '/api/v1/capabilities/')).status).toBe(404)
  expect((await sender.send('GET', '/metrics')).text).toContain('webhooks_queue_depth')

  const created = await run(
    ['keys', 'create', '--organization', organizationId, '--name', 'writer', '--json'],
    { ...env, DATA_DIR: temporaryFolder() },
  )
  const added = await writer.send('POST', '/api/v1/domains/', {
    headers: { 'x-api-key': JSON.parse(created.stdout).api_key },
    body: { domain: 'delivered.test', dkim_enabled: false },
  })
  expect(added.status).toBe(201)
  await until(() => receiver.got.some(({ json }) => json.data.domain === 'delivered.test'))
  await receiver.stop()
})
