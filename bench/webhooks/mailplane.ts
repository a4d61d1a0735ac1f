import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { runningEmbedded } from '../../src/database/embedded.ts'
import { type Started, start } from '../servers.ts'
import { FILLING, SECRET } from './envelope.ts'
import type { Receiver } from './receipts.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const EMPTY_MS = 60_000

/** The built server on its own PostgreSQL, which flushes every commit to disk. */
export async function startMailplane(
  dataDir: string,
  environment: Record<string, string>,
  started: Started[],
) {
  const own = { DATA_DIR: dataDir, PORT: '0', ...environment }
  const server = await start(process.execPath, [MAIN, 'serve'], own, started)
  const target = runningEmbedded(dataDir)
  if (!target) throw new Error('the embedded PostgreSQL is not running')
  return { server, database: openDatabase(target, { pool: 8, name: 'bench' }) }
}

export const delivering = ({ url }: Receiver, concurrency: number) => ({
  WEBHOOK_URL: `${url}/hook`,
  WEBHOOK_SECRET: SECRET,
  WEBHOOK_WORKERS: String(concurrency),
})

let batches = 0

/** Inserts the events that the same number of changes to different resources would emit. */
export async function emit({ sql }: Database, count: number, filling = FILLING): Promise<void> {
  await sql`
    with stored as (
      insert into events (id, event, source, data)
      select ${`bench-${++batches}-`}::text || n, 'bench.sent', 'api',
        jsonb_build_object('n', n, 'text', ${filling}::text)
      from generate_series(1, ${count}::int) as n
      returning id, sequence
    )
    insert into webhook_queue (event_id, lane) select id, sequence % 64 from stored order by sequence`
}

/**
 * Requires that deliveries are recorded, not only received. Events of the server itself, such as a
 * load alert, are not counted.
 */
export async function expectAllRecorded({ sql }: Database, count: number): Promise<void> {
  const end = Date.now() + EMPTY_MS
  for (;;) {
    const [row] = await sql`select
      (select count(*) from webhook_queue) as waiting,
      (select count(*) from webhook_deliveries
        where event_type = 'bench.sent' and delivery_status = 'delivered') as delivered`
    if (row?.waiting === 0 && row.delivered === count) return
    if (Date.now() > end) throw new Error(`${count} sent, but ${JSON.stringify(row)}`)
    await sleep(50)
  }
}
