import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Sql } from 'postgres'
import { afterEach, expect, it } from 'vitest'
import { connect } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { installation } from '../support/installation.ts'
import { cleanUp, kill, startServer, until, workersIn } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'
import { emitMany, expectNothingLost, receipts } from '../support/webhook-events.ts'

const EVENTS = 5000
const WORKERS = 8
const EVENT = 'event'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await cleanUp()
  for (const undo of cleanUps.splice(0).reverse()) await undo()
})

async function setUp() {
  const receiver = await startReceiver()
  cleanUps.push(receiver.stop)
  const { dataDir } = await installation()
  const env = {
    WEBHOOK_URL: receiver.url,
    WEBHOOK_WORKERS: String(WORKERS),
    WEBHOOK_TIMEOUT: '5',
    WEBHOOK_RETRY_SCHEDULE: '1',
  }
  return { receiver, start: { dataDir, env } }
}

/** Connects to the embedded PostgreSQL that runs at the moment. */
async function embedded<T>(dataDir: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(runningEmbedded(dataDir) as never, { max: 1 })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

type Receiver = Awaited<ReturnType<typeof startReceiver>>

const inTheMiddle = (receiver: Receiver) => until(() => receiver.got.length > EVENTS / 5)

/** Attempts in progress, and attempts whose response was not yet recorded. */
const IN_FLIGHT = 2 * WORKERS

it('kill -9 of the webhook daemon loses no event and repeats only attempts in progress', async () => {
  const { receiver, start } = await setUp()
  const first = await startServer(start)
  await embedded(start.dataDir, (sql) => emitMany(sql, EVENT, EVENTS))
  await inTheMiddle(receiver)
  await first.killNode()
  expect(receipts(receiver, EVENT).distinct).toBeLessThan(EVENTS)

  await startServer(start)
  const { unrecorded } = await embedded(start.dataDir, (sql) =>
    expectNothingLost(receiver, sql, EVENT, EVENTS),
  )
  expect(unrecorded).toBeLessThanOrEqual(IN_FLIGHT)
})

it('a restart of PostgreSQL loses no webhook event', async () => {
  const { receiver, start } = await setUp()
  await startServer(start)
  await embedded(start.dataDir, (sql) => emitMany(sql, EVENT, EVENTS))
  await inTheMiddle(receiver)
  for (const pid of workersIn(start.dataDir)) kill(pid, 'SIGKILL')
  await until(() => receipts(receiver, EVENT).distinct === EVENTS)
  const { unrecorded } = await embedded(start.dataDir, (sql) =>
    expectNothingLost(receiver, sql, EVENT, EVENTS),
  )
  expect(unrecorded).toBeLessThanOrEqual(IN_FLIGHT)
})

it('POST /webhook/test needs the internal token, beside the API and in a separate process (S5)', async () => {
  const { receiver, start } = await setUp()
  const all = await startServer(start)
  const body = { from: 'everything' }
  expect(await all.send('POST', '/webhook/test', { body })).toMatchObject({ status: 401 })
  // The token that the first start made.
  const made = readFileSync(join(all.dataDir, 'internal-token'), 'utf8')
  const withToken = { body, headers: { 'x-internal-token': made } }
  expect(await all.send('POST', '/webhook/test', withToken)).toMatchObject({ status: 200 })
  expect((await all.health()).body).toMatchObject({ service: 'api' })
  await until(() => receiver.got.some(({ json }) => json.data.payload?.from === 'everything'))
  await all.stop()

  const args = ['--services', 'webhooks']
  const closed = await startServer({ ...start, args })
  expect(await closed.send('POST', '/webhook/test', { body })).toMatchObject({ status: 401 })
  await closed.stop()

  const env = { ...start.env, SVC_INTERNAL_TOKEN: 'a token' }
  const alone = await startServer({ ...start, env, args })
  const headers = { authorization: 'Bearer a token' }
  const answer = await alone.send('POST', '/webhook/test', { body: { from: 'alone' }, headers })
  expect(answer).toMatchObject({ status: 200, body: { message: 'Test webhook queued' } })
  expect((await alone.health()).body).toMatchObject({ service: 'webhooks' })
  expect(await alone.send('GET', '/api/v1/capabilities/')).toMatchObject({ status: 404 })
  await until(() => receiver.got.some(({ json }) => json.data.payload?.from === 'alone'))
})
