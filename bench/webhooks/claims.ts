import type { Database } from '../../src/database/database.ts'
import {
  dueRetryIds,
  firstIds,
  load,
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

/** What a daemon asks before it can send, on ever longer queues. A tenth of them waits for a retry. */
export async function measureClaims(database: Database, sizes: number[]): Promise<Claims[]> {
  const results: Claims[] = []
  let waiting = 0
  // Planned now: a queue is empty most of the time, and nobody counts it again while it grows.
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

/** As the engine does it. */
async function claim({ byIndex }: Database, count: number): Promise<void> {
  const now = new Date()
  const first = await firstIds(byIndex, { lanes, limit: CLAIMED })
  const retries = await dueRetryIds(byIndex, { lanes, now, limit: CLAIMED })
  const ids = [...first, ...retries].map(({ id }) => id)
  const jobs = await load(byIndex, ids, now)
  if (jobs.length !== count) throw new Error(`${jobs.length} claimed instead of ${count}`)
}
