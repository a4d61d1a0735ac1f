import { sql } from 'kysely'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../../../../test/support/postgres.ts'
import { type Database, openDatabase, type Tx } from '../../../database/database.ts'
import { type Outcome, record } from './outcomes.ts'
import * as queue from './queue.repository.ts'

const WAITING = 20_000
const CLAIMED = 100
// PostgreSQL considers a cached plan from the sixth execution on.
const EXECUTIONS = 10
const lanes = Array.from({ length: 64 }, (_, lane) => lane)
const now = new Date()

let clone: Awaited<ReturnType<typeof cloneDatabase>>
let database: Database

beforeAll(async () => {
  clone = await cloneDatabase(inject('databaseUrl'))
  database = openDatabase(clone.url, { pool: 2, name: 'plans' })
  // An empty queue, whose statistics do not change while the test fills it.
  await sql`alter table webhook_queue set (autovacuum_enabled = false)`.execute(database.db)
  await sql`vacuum analyze webhook_queue`.execute(database.db)
  await sql`vacuum analyze events`.execute(database.db)
})
afterAll(async () => {
  await database.close()
  await clone.drop()
})

/** Half of the entries are for an endpoint, a fifth are retries. */
const fill = (tx: Tx) =>
  sql`
    with stored as (
      insert into events (id, event, source, data)
      select 'plan-' || n, 'bench.sent', 'api', '{}' from generate_series(1, ${WAITING}::int) as n
      returning id, sequence
    )
    insert into webhook_queue (event_id, lane, endpoint_id, attempts, due_at)
    select id, case sequence % 2 when 0 then webhook_endpoint_lane('none') else sequence % 64 end,
      case sequence % 2 when 0 then 'none' end,
      case sequence % 10 when 0 then 1 when 1 then 1 else 0 end, now() - interval '1 minute'
    from stored order by sequence`.execute(tx)

async function rowsRead(tx: Tx): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read
    from pg_stat_xact_user_tables where relname = 'webhook_queue' or relname like 'events\\_%'`.execute(
    tx,
  )
  return rows[0]?.read ?? 0
}

const outcomesOf = (jobs: queue.Job[], retryAt?: Date): Outcome[] =>
  jobs.map((job) => ({
    id: `${job.id}-${job.attempts}`,
    job,
    organizationId: null,
    url: 'http://127.0.0.1/',
    httpStatus: retryAt ? 500 : 200,
    error: null,
    at: now,
    ...(retryAt ? { status: 'retrying', retryAt } : { status: 'delivered' }),
  }))

/** Runs every statement of the engine. Returns how many rows of the queue and of events each read. */
async function runAll(tx: Tx) {
  const read: Record<string, number> = {}
  const counted = async <Result>(name: string, work: () => Promise<Result>) => {
    const before = await rowsRead(tx)
    const result = await work()
    read[name] = (await rowsRead(tx)) - before
    return result
  }
  const [limit, endpointIds] = [CLAIMED, ['none']]
  const ids = await counted('global', () => queue.findDueForGlobalUrl(tx, { lanes, now, limit }))
  const first = ids.slice(0, CLAIMED)
  const jobs = await counted('load', () => queue.load(tx, first, now))
  const half = jobs.length / 2
  await counted('postpone', () => record(tx, outcomesOf(jobs.slice(0, half), now)))
  await counted('delete', () => record(tx, outcomesOf(jobs.slice(half))))
  const waiting = await counted('waiting', () => queue.findWaitingEndpoints(tx, lanes))
  await counted('endpoints', () => queue.findDueForEndpoints(tx, { endpointIds, now, limit }))
  const deleted = await counted('gone', () => queue.deleteUndeliverable(tx, endpointIds, CLAIMED))
  return { read, claimed: jobs.length, waiting, deleted }
}

it('reads few more rows than it claims after an empty queue has grown to 20,000 entries', async () => {
  await queue.withFreshPlans(database.db, async (tx) => {
    for (let n = 0; n < EXECUTIONS; n++) {
      expect(await runAll(tx)).toMatchObject({ claimed: 0, waiting: [], deleted: 0 })
    }
    await fill(tx)
    const { read, ...counts } = await runAll(tx)
    // The limit is for first attempts and for retries each.
    expect(counts).toEqual({ claimed: CLAIMED, waiting: ['none'], deleted: 2 * CLAIMED })
    expect(Object.entries(read).filter(([, rows]) => rows > 6 * CLAIMED)).toEqual([])
  })
})
