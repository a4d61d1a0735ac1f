import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { FILLING } from './envelope.ts'
import type { Receiver } from './receipts.ts'

export interface Latency {
  p50Ms: number
  p95Ms: number
  p99Ms: number
}

export type Paced = Record<'fromCommit' | 'fromStatement', Latency>

/**
 * Emits events at a steady pace and measures the time until receipt: from the completed commit, and
 * from sending the statement, which includes the disk write.
 */
export async function measureLatency(
  { sql }: Database,
  receiver: Receiver,
  eachSecond: number,
  seconds: number,
): Promise<Paced> {
  await receiver.forget()
  const count = eachSecond * seconds
  const begun = new Map<string, bigint>()
  const committed = new Map<string, bigint>()
  const insert = async (n: number) => {
    const id = `bench-paced-${n}`
    begun.set(id, process.hrtime.bigint())
    await sql`
      with stored as (
        insert into events (id, event, source, data)
        values (${id}, 'bench.sent', 'api', jsonb_build_object('n', ${n}::int, 'text', ${FILLING}::text))
        returning id
      )
      insert into webhook_queue (event_id, lane) select id, ${n % 64}::int from stored`
    committed.set(id, process.hrtime.bigint())
  }
  const inserts: Promise<void>[] = []
  const start = performance.now()
  for (let n = 0; n < count; n++) {
    const wait = start + (n * 1000) / eachSecond - performance.now()
    if (wait > 0) await sleep(wait)
    inserts.push(insert(n))
  }
  await Promise.all(inserts)
  await receiver.waitFor(count)
  const arrived = await receiver.each()
  const since = (from: Map<string, bigint>) =>
    latencyOf(
      // The receiver may get the event before the writer gets the result of its commit.
      [...from].map(([id, ns]) => Math.max(0, Number((arrived.get(id) as bigint) - ns) / 1e6)),
    )
  return { fromCommit: since(committed), fromStatement: since(begun) }
}

export function latencyOf(values: number[]): Latency {
  const sorted = values.toSorted((a, b) => a - b)
  const quantile = (part: number) => sorted[Math.ceil(part * sorted.length) - 1] ?? Number.NaN
  return { p50Ms: quantile(0.5), p95Ms: quantile(0.95), p99Ms: quantile(0.99) }
}
