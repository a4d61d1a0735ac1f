import postgres, { type Sql } from 'postgres'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { clientOf, PASSWORD } from '../support/app.ts'
import { startCuttingProxy } from '../support/cutting-proxy.ts'
import { bootstrapBoth } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, type Server, startServer, temporaryFolder, until } from '../support/process.ts'

const AWAY = {
  status: 503,
  body: {
    type: 'error',
    msg: 'The database is not available at the moment; try again in a few seconds',
    error_code: 'DATABASE_UNAVAILABLE',
  },
  headers: { 'retry-after': '3' },
}

let database: Awaited<ReturnType<typeof cloneDatabase>>
let proxy: Awaited<ReturnType<typeof startCuttingProxy>>
let server: Server
let sql: Sql
let made: Awaited<ReturnType<typeof bootstrapBoth>>

beforeAll(async () => {
  database = await cloneDatabase(inject('databaseUrl'))
  sql = postgres(database.url, { max: 1, onnotice: () => {} })
  proxy = await startCuttingProxy(database.url)
  const env = { DATABASE_URL: proxy.url, SVC_COOKIE_SECURE: 'false' }
  server = await startServer({ dataDir: temporaryFolder(), env })
  made = await bootstrapBoth(server)
})
afterAll(async () => {
  await cleanUp()
  await sql.end()
  await proxy.stop()
  await database.drop()
})

let count = 0
const create = () =>
  clientOf(server, {}, new Map(made.jar)).post('/api/v1/platform/operators', {
    email: `writer-${count++}@ops.test`,
    full_name: 'Writer',
    password: PASSWORD,
    role: 'support',
  })
const read = () => server.send('GET', '/api/v1/domains/', { headers: { 'x-api-key': made.apiKey } })
const both = (requests: number) =>
  Promise.all(Array.from({ length: requests }, (_, index) => (index % 2 ? create() : read())))
const healthy = () => until(async () => (await server.health()).status === 200)

async function expectDocumented(answers: Awaited<ReturnType<typeof create>>[]) {
  for (const answer of answers) {
    if (answer.status > 201) expect(answer).toMatchObject(AWAY)
  }
  const stored = (await sql`select id from operators`).map(({ id }) => id)
  for (const { status, body } of answers) if (status === 201) expect(stored).toContain(body.data.id)
}

it('every request is answered when the open connections fall silent, and new ones are used', async () => {
  // More requests than connections, so that every connection is open.
  expect((await both(24)).filter(({ status }) => status > 201)).toEqual([])
  proxy.silence()
  await expectDocumented(await both(40))
  await healthy()
  expect((await both(24)).filter(({ status }) => status > 201)).toEqual([])
})

it('every request is answered 503 while the database accepts connections but never answers', async () => {
  await both(24)
  proxy.silence({ all: true })
  const answers = await both(40)
  for (const answer of answers) expect(answer).toMatchObject(AWAY)
  proxy.mend()
  await until(async () => (await create()).status === 201)
  await healthy()
})

it('a request that waits for a lock too long is answered 503 and stores nothing', async () => {
  const waiting = sql.begin(async (tx) => {
    await tx`lock table operators in access exclusive mode`
    return create()
  })
  expect(await waiting).toMatchObject(AWAY)
  expect((await create()).status).toBe(201)
})

it('a write is answered 503 while the server is read-only after a switch, then works again', async () => {
  const name = sql.unsafe(new URL(database.url).pathname.slice(1))
  const reconnect = () =>
    sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`
  await sql`alter database ${name} set default_transaction_read_only = on`
  await reconnect()
  // The lost connections answer 503 too; then come the ones that refuse to write.
  await until(async () => {
    const answer = await create()
    expect(answer).toMatchObject(AWAY)
    return (await server.health()).status === 200
  })
  expect(await create()).toMatchObject(AWAY)
  await sql`set default_transaction_read_only = off`
  await sql`alter database ${name} reset default_transaction_read_only`
  await until(async () => (await create()).status === 201)
})
