import type { Sql } from 'postgres'
import { expect } from 'vitest'
import { until } from './process.ts'
import type { Received, startReceiver } from './receiver.ts'

type Receiver = Awaited<ReturnType<typeof startReceiver>>

/**
 * Inserts events about many resources, as the same number of changes would; their ids share a
 * prefix.
 */
export const emitMany = (sql: Sql, prefix: string, count: number) => sql`
  with stored as (
    insert into events (id, event, source, data)
    select ${`${prefix}-`}::text || n, 'domain.updated', 'api', jsonb_build_object('n', n)
    from generate_series(1, ${count}::int) as n
    returning id, sequence
  )
  insert into webhook_queue (event_id, lane) select id, sequence % 64 from stored order by sequence`

const isAbout =
  (prefix: string) =>
  ({ json }: Received) =>
    (json.id as string).startsWith(`${prefix}-`)

/** Counts the requests received and the distinct events in them. */
export function receipts(receiver: Receiver, prefix: string) {
  const about = receiver.got.filter(isAbout(prefix))
  return { distinct: new Set(about.map(({ json }) => json.id)).size, total: about.length }
}

export interface Recorded {
  event_id: string
  statuses: string[]
  codes: number[]
  errors: string[]
  attempts: number[]
}

/** The recorded delivery attempts of each event, in order. */
export const recorded = (sql: Sql, prefix: string) => sql<Recorded[]>`
  select event_id,
    array_agg(delivery_status order by attempts) as statuses,
    array_agg(http_status_code order by attempts) as codes,
    array_agg(coalesce(error_message, '') order by attempts) as errors,
    array_agg(attempts order by attempts) as attempts
  from webhook_deliveries where event_id like ${`${prefix}-%`} group by event_id`

export async function waiting(sql: Sql, prefix: string): Promise<number> {
  const rows = await sql`select from webhook_queue where event_id like ${`${prefix}-%`}`
  return rows.length
}

/**
 * Expects that every event was received and has one recorded delivery as its last attempt.
 * Returns how many requests have no recorded attempt, which are those that were repeated after a
 * crash. A request that timed out has one.
 */
export async function expectNothingLost(
  receiver: Receiver,
  sql: Sql,
  prefix: string,
  count: number,
) {
  await until(() => receipts(receiver, prefix).distinct === count)
  await until(async () => (await waiting(sql, prefix)) === 0)
  const rows = await recorded(sql, prefix)
  const once = rows.filter(({ statuses }) => statuses.indexOf('delivered') === statuses.length - 1)
  expect(once).toHaveLength(count)
  const attempts = rows.reduce((sum, { statuses }) => sum + statuses.length, 0)
  return { unrecorded: receipts(receiver, prefix).total - attempts }
}
