import postgres, { type Sql } from 'postgres'
import { afterAll, beforeEach, expect, inject, it } from 'vitest'
import { clientOf, PASSWORD } from '../support/app.ts'
import { bootstrapBoth } from '../support/installation.ts'
import { cloneDatabase } from '../support/postgres.ts'
import { cleanUp, type Server, startServer, temporaryFolder, until } from '../support/process.ts'

const env = { SVC_SECRET_KEY: 'the root key that both processes have', SVC_COOKIE_SECURE: 'false' }
let database: Awaited<ReturnType<typeof cloneDatabase>> | undefined
let sql: Sql
let one: Server
let other: Server
let jar: Map<string, string>

const start = () =>
  startServer({
    dataDir: temporaryFolder(),
    env: { ...env, DATABASE_URL: database?.url as string },
  })

// Every test except the first starts with one process too few.
beforeEach(async () => {
  if (!database) {
    database = await cloneDatabase(inject('databaseUrl'))
    sql = postgres(database.url, { max: 2, onnotice: () => {} })
    other = await start()
    jar = (await bootstrapBoth(other)).jar
  }
  if (!one?.isRunning()) one = await start()
})
afterAll(async () => {
  await cleanUp()
  await sql.end()
  await database?.drop()
})

it('a request sent many times to two processes is executed once', async () => {
  const answers = await Promise.all(
    [one, other, one, other, one, other].map((server) => create(server, 'many')),
  )
  for (const { status, body } of answers) {
    if (status !== 201) expect([status, body.error_code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS'])
  }
  const success = answers.find(({ status }) => status === 201)
  expect(await stored('many')).toEqual([success?.body.data.id])
  for (const server of [one, other]) {
    const again = await create(server, 'many')
    expect(again).toMatchObject({ status: 201, text: success?.text })
    expect(again.headers['idempotency-replayed']).toBe('true')
  }
})

it('a request of a killed process is executed when it is sent again after the end of its heartbeat', async () => {
  // A lock on the table of operators keeps the request in progress.
  await killWhile('operators', 'unfinished', 'running')
  expect(await create(other, 'unfinished')).toMatchObject({
    status: 409,
    body: { error_code: 'IDEMPOTENCY_IN_PROGRESS' },
  })
  const again = await afterHeartbeat('unfinished')
  expect(again).toMatchObject({ status: 201, body: { data: { email: 'unfinished@ops.test' } } })
  expect(again.headers['idempotency-replayed']).toBeUndefined()
  expect(await stored('unfinished')).toEqual([again.body.data.id])
})

it('a request whose process was killed after its commit is reported as successful and not repeated', async () => {
  // The response counts sessions of the operator, whose table is locked.
  await killWhile('sessions', 'unanswered', 'committed')
  const [id] = await stored('unanswered')
  expect(id).toBeDefined()
  expect(await create(other, 'unanswered')).toMatchObject({
    status: 409,
    body: { error_code: 'IDEMPOTENCY_IN_PROGRESS' },
  })
  const again = await afterHeartbeat('unanswered')
  expect(again).toMatchObject({ status: 201, body: { type: 'success' } })
  expect(again.headers['idempotency-replayed']).toBe('true')
  expect(await stored('unanswered')).toEqual([id])
})

const create = (server: Server, name: string) =>
  clientOf(server, { 'idempotency-key': name }, new Map(jar)).post('/api/v1/platform/operators', {
    email: `${name}@ops.test`,
    full_name: name,
    password: PASSWORD,
    role: 'support',
  })

/**
 * Sends a request to a process and kills the process while the request waits for a locked table.
 */
async function killWhile(table: string, name: string, state: string) {
  // The process has cached the session and does not look it up again.
  const me = await clientOf(one, {}, new Map(jar)).get('/api/v1/platform/auth/me')
  expect(me.status).toBe(200)
  await sql.begin(async (tx) => {
    await tx`lock table ${tx(table)} in access exclusive mode`
    const lost = create(one, name).catch(() => 'lost')
    await until(async () => {
      const [row] = await sql`select state from idempotency_keys where key = ${name}`
      return row?.state === state
    })
    await one.killNode()
    expect(await lost).toBe('lost')
  })
}

/** Repeats a request until the claim of the killed process is free. Its lease would last an hour. */
async function afterHeartbeat(name: string) {
  await sql`update idempotency_keys set lease_until = now() + interval '1 hour' where key = ${name}`
  let again = await create(other, name)
  await until(async () => {
    if (again.status === 409) again = await create(other, name)
    return again.status !== 409
  })
  return again
}

const stored = async (name: string): Promise<string[]> =>
  (await sql`select id from operators where email = ${`${name}@ops.test`}`).map(({ id }) => id)
