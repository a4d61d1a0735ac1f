import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

const MINUTES = 5
const AT_MOST = 20_000

/** Of mail that was delivered lately: 95 of 100 took no longer, in seconds. null when there was none. */
export async function deliveryLatency(db: Db, now: Date): Promise<number | null> {
  const since = new Date(now.getTime() - MINUTES * 60_000).toISOString()
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
