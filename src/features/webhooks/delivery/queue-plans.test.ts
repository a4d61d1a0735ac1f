import { sql } from 'kysely'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { cloneDatabase } from '../../../../test/support/postgres.ts'
import { BY_INDEX, type Database, openDatabase, type Tx } from '../../../database/database.ts'
import * as endpointQueue from './endpoint-queue.repository.ts'
import * as queue from './queue.repository.ts'

const WAITING = 20_000
const TAKEN = 100
const lanes = Array.from({ length: 64 }, (_, lane) => lane)
const now = new Date()

let clone: Awaited<ReturnType<typeof cloneDatabase>>
let database: Database

beforeAll(async () => {
  clone = await cloneDatabase(inject('databaseUrl'))
  database = openDatabase(clone.url, { pool: 2, name: 'plans' })
  // As it is found in a quiet hour. Nobody may count again while the test fills it.
  await sql`alter table webhook_queue set (autovacuum_enabled = false)`.execute(database.db)
  await sql`vacuum analyze webhook_queue`.execute(database.db)
  await sql`vacuum analyze events`.execute(database.db)
})
afterAll(async () => {
  await database.close()
  await clone.drop()
})

/** Half of them for an endpoint, a fifth of them to be tried again. */
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
    from pg_stat_xact_user_tables where relname in ('webhook_queue', 'events')`.execute(tx)
  return rows[0]?.read ?? 0
}

const delivered = (jobs: queue.Job[], retryAt?: Date): queue.Outcome[] =>
  jobs.map((job) => ({
    job,
    delivery: {
      id: `${job.id}-${job.attempts}`,
      endpointId: null,
      organizationId: null,
      url: 'http://127.0.0.1/',
      status: retryAt ? 'retrying' : 'delivered',
      httpStatus: retryAt ? 500 : 200,
      error: null,
      at: now,
    },
    ...(retryAt && { retryAt }),
  }))

const sweep = { lanes, after: lanes.map(() => ''), endpoints: 10, entries: TAKEN, full: [] }

/** All that is asked of the queue, as daemons ask it; answers how many rows of it each has read. */
async function everything(tx: Tx) {
  const read: Record<string, number> = {}
  const counted = async <Result>(name: string, work: () => Promise<Result>) => {
    const before = await rowsRead(tx)
    const result = await work()
    read[name] = (await rowsRead(tx)) - before
    return result
  }
  const limit = TAKEN
  const first = await counted('first', () => queue.firstIds(tx, { lanes, limit }))
  await counted('retries', () => queue.dueRetryIds(tx, { lanes, now, limit }))
  const ids = first.map(({ id }) => id)
  const jobs = await counted('load', () => queue.load(tx, ids, now))
  const half = jobs.length / 2
  await counted('put off', () => queue.record(tx, delivered(jobs.slice(0, half), now)))
  await counted('done', () => queue.record(tx, delivered(jobs.slice(half))))
  await counted('sweep', () => endpointQueue.sweepFirst(tx, sweep))
  await counted('sweep of retries', () => endpointQueue.sweepRetries(tx, sweep, now))
  const unwanted = ['none']
  const gone = await counted('gone', () => endpointQueue.deleteUnwanted(tx, unwanted, TAKEN))
  return { read, claimed: jobs.length, gone }
}

it('reads about as much as it takes, also by plans from when the queue was empty', async () => {
  await database.db.transaction().execute(async (tx) => {
    await sql.raw(BY_INDEX).execute(tx)
    expect(await everything(tx)).toMatchObject({ claimed: 0, gone: 0 })
    await fill(tx)
    const { read, ...taken } = await everything(tx)
    // Of first attempts and of retries that many each.
    expect(taken).toEqual({ claimed: TAKEN, gone: 2 * TAKEN })
    expect(Object.entries(read).filter(([, rows]) => rows > 6 * TAKEN)).toEqual([])
  })
})
