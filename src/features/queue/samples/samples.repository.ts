import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import type { QueueStatus } from '../../../mail/mail-queue.ts'

/** More points than this are of no use in a chart. */
const POINTS = 360

export interface QueueSample {
  queue_name: QueueStatus
  message_count: number
  size_bytes: number
  oldest_age_seconds: number | null
}

/** A queue of a host has one sample per minute; the first one stored wins. */
export const insert = (db: Db, host: string, minute: Date, samples: readonly QueueSample[]) =>
  db
    .insertInto('queue_samples')
    .values(samples.map((sample) => ({ ...sample, host, minute: minute.toISOString() })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()

export const deleteBefore = (db: Db, time: Date) =>
  db.deleteFrom('queue_samples').where('minute', '<', time.toISOString()).execute()

/** The newest samples of this host; empty when they are older than `since`. */
export const latest = (db: Db, host: string, since: Date) =>
  db
    .selectFrom('queue_samples')
    .select(['queue_name', 'message_count', 'size_bytes', 'oldest_age_seconds', 'minute'])
    .where('host', '=', host)
    .where('minute', '=', (query) =>
      query
        .selectFrom('queue_samples')
        .select(({ fn }) => fn.max('minute').as('minute'))
        .where('host', '=', host)
        .where('minute', '>', since.toISOString()),
    )
    .execute()

export interface QueuePoint {
  t: string
  active: number
  deferred: number
  hold: number
  size_bytes: number
  oldest_age_seconds: number | null
}

/** The sums of all hosts; of a longer time, the largest value in each step. */
export async function points(db: Db, hours: number, now: Date): Promise<QueuePoint[]> {
  const minutes = Math.max(1, Math.ceil((hours * 60) / POINTS))
  const since = new Date(now.getTime() - hours * HOUR_MS).toISOString()
  const { rows } = await sql<QueuePoint>`
    select date_bin(make_interval(mins => ${minutes}::int), minute, '2000-01-01T00:00:00Z') as t,
      max(active)::int as active, max(deferred)::int as deferred, max(hold)::int as hold,
      max(bytes)::bigint as size_bytes, max(oldest)::int as oldest_age_seconds
    from (
      select minute,
        coalesce(sum(message_count) filter (where queue_name = 'active'), 0) as active,
        coalesce(sum(message_count) filter (where queue_name = 'deferred'), 0) as deferred,
        coalesce(sum(message_count) filter (where queue_name = 'hold'), 0) as hold,
        sum(size_bytes) as bytes,
        max(oldest_age_seconds) filter (where queue_name <> 'hold') as oldest
      from queue_samples where minute > ${since} and minute <= ${now.toISOString()}
      group by minute
    ) as each_minute
    group by t order by t`.execute(db)
  return rows
}
