import { afterEach, expect, it } from 'vitest'
import { connect } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { installation } from '../support/installation.ts'
import { cleanUp, kill, startServer, until, workersIn } from '../support/process.ts'
import { startReceiver } from '../support/receiver.ts'

const EVENTS = 5000
const WORKERS = 8

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await cleanUp()
  for (const undo of cleanUps.splice(0)) await undo()
})

async function setUp() {
  const receiver = await startReceiver()
  cleanUps.push(receiver.stop)
  const { dataDir } = await installation()
  const env = {
    WEBHOOK_URL: receiver.url,
    WEBHOOK_WORKERS: String(WORKERS),
    WEBHOOK_TIMEOUT: '1',
    WEBHOOK_RETRY_SCHEDULE: '1',
  }
  return { receiver, start: { dataDir, env } }
}

/** As many events about many things, as if as many changes had been made. */
async function emit(dataDir: string): Promise<void> {
  const sql = connect(runningEmbedded(dataDir) as never, { max: 1 })
  await sql`
    with stored as (
      insert into events (id, event, source, data)
      select 'event-' || n, 'domain.updated', 'api', jsonb_build_object('n', n)
      from generate_series(1, ${EVENTS}::int) as n
      returning id, sequence
    )
    insert into webhook_queue (event_id, lane) select id, sequence % 64 from stored order by sequence`
  await sql.end()
}

const summary = (receiver: Awaited<ReturnType<typeof startReceiver>>) => {
  const ids = receiver.got.map(({ json }) => json.id as string)
  const distinct = new Set(ids).size
  return { distinct, duplicates: ids.length - distinct }
}

it('loses no event to kill -9 of the daemon, and repeats only attempts that were under way', async () => {
  const { receiver, start } = await setUp()
  const first = await startServer(start)
  await emit(start.dataDir)
  await until(() => receiver.got.length > EVENTS / 5)
  await first.killNode()
  expect(summary(receiver).distinct).toBeLessThan(EVENTS)

  await startServer(start)
  await until(() => summary(receiver).distinct === EVENTS, 60_000)
  // What was under way, and what had been answered but not yet stored.
  expect(summary(receiver).duplicates).toBeLessThanOrEqual(2 * WORKERS)
})

it('loses no event to a restart of PostgreSQL in the middle', async () => {
  const { receiver, start } = await setUp()
  await startServer(start)
  await emit(start.dataDir)
  await until(() => receiver.got.length > EVENTS / 5)
  for (const pid of workersIn(start.dataDir)) kill(pid, 'SIGKILL')
  await until(() => summary(receiver).distinct === EVENTS, 60_000)
  expect(summary(receiver).duplicates).toBeLessThanOrEqual(2 * WORKERS)
})

it('takes events in beside the API without a token, and alone only with one', async () => {
  const { receiver, start } = await setUp()
  const all = await startServer(start)
  const body = { from: 'everything' }
  expect(await all.send('POST', '/webhook/test', { body })).toMatchObject({ status: 200 })
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
