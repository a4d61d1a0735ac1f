import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { MINUTE_MS } from '../../../lib/time.ts'

const MINUTES = 5
const AT_MOST = 20_000

/** The 95th percentile of recent delivery times in seconds; null without deliveries. */
export async function deliveryLatency(db: Db, now: Date): Promise<number | null> {
  const since = new Date(now.getTime() - MINUTES * MINUTE_MS).toISOString()
  const { rows } = await sql<{ p95: number | null }>`
    select percentile_cont(0.95) within group (order by seconds) as p95
    from (
      select (select sum(part::double precision)
        from unnest(string_to_array(delays, '/')) as part) as seconds
      from mail_log
      where "timestamp" > ${since} and "timestamp" <= ${now.toISOString()}
        and status in ('sent', 'delivered') and delays ~ '^[0-9]+(\.[0-9]+)?(/[0-9]+(\.[0-9]+)?)*$'
      order by "timestamp" desc limit ${AT_MOST}
    ) lately`.execute(db)
  return rows[0]?.p95 ?? null
}
