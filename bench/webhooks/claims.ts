import type { Database } from '../../src/database/database.ts'
import {
  findDueForGlobalUrl,
  load,
  withFreshPlans,
} from '../../src/features/webhooks/delivery/queue.repository.ts'
import { type Latency, latencyOf } from './latency.ts'
import { emit } from './mailplane.ts'

const CLAIMED = 500
const TIMES = 100
const WARM_UP = 10
const lanes = Array.from({ length: 64 }, (_, lane) => lane)

export interface Claims extends Latency {
  waiting: number
}

/** Times the claim query of a daemon on growing queues. A tenth of the events waits for a retry. */
export async function measureClaims(database: Database, sizes: number[]): Promise<Claims[]> {
  const results: Claims[] = []
  let waiting = 0
  // Planned on an empty queue, as usual in production: the statistics are not updated while it
  // grows.
  await database.sql`vacuum analyze webhook_queue`
  for (let n = 0; n < WARM_UP; n++) await claim(database, 0)
  for (const size of sizes) {
    await emit(database, size - waiting, '')
    await database.sql`
      update webhook_queue set attempts = 1, due_at = now() + interval '1 hour'
      where id % 10 = 0 and attempts = 0`
    waiting = size
    const times: number[] = []
    for (let n = 0; n < WARM_UP + TIMES; n++) {
      const begin = performance.now()
      await claim(database, CLAIMED)
      if (n >= WARM_UP) times.push(performance.now() - begin)
    }
    results.push({ waiting, ...latencyOf(times) })
  }
  return results
}

/** Claims events like the delivery engine. */
async function claim({ db }: Database, count: number): Promise<void> {
  const jobs = await withFreshPlans(db, async (tx) => {
    const now = new Date()
    const ids = await findDueForGlobalUrl(tx, { lanes, now, limit: CLAIMED })
    return load(tx, ids, now)
  })
  if (jobs.length !== count) throw new Error(`${jobs.length} claimed instead of ${count}`)
}
