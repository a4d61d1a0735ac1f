import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Core } from '../core.ts'
import { type ClickHouse, ch, type Fragment, joined, PastDaysAway } from '../outbound/clickhouse.ts'

const POLL_MS = 100
const CHANGE_MS = 60_000

export interface Range {
  from?: Date | undefined
  to?: Date | undefined
}

/** The copies of the days that have moved and are in the range, oldest first, as an array. */
export const copiesIn = ({ from, to }: Range) => sql<string[]>`array(
  select copy_id from mail_log_moves
  where moved_at is not null
    and ${from ? sql`day >= ${dateOf(from)}::date` : sql`true`}
    and ${to ? sql`day <= ${dateOf(to)}::date` : sql`true`}
  order by day)`

const dateOf = (time: Date) => time.toISOString().slice(0, 10)

export type PastDays = ReturnType<typeof pastDays>
export type PastDaysNeeds = Pick<Core, 'db' | 'clickhouse'>

/**
 * The days of the log that have moved to ClickHouse. A reader reads PostgreSQL first, then the copies, then
 * ClickHouse: a day that moves meanwhile is found on both sides, and never on none.
 */
export function pastDays({ db, clickhouse }: PastDaysNeeds) {
  /** Throws when days have moved and MAIL_LOG_CLICKHOUSE_URL is not set any more. */
  function store(): ClickHouse {
    if (!clickhouse) throw new PastDaysAway()
    return clickhouse
  }
  return {
    store,

    /** The copies of the days in the range, oldest first; empty when PostgreSQL has all of them. */
    async copiesIn(range: Range): Promise<string[]> {
      const { rows } = await sql<{ copies: string[] }>`
        select ${copiesIn(range)} as copies`.execute(db)
      return rows[0]?.copies ?? []
    },

    /**
     * Changes the rows of the copies, waits until they are rewritten, and returns their number. A change that
     * was interrupted can be made again.
     */
    async change(copies: string[], change: Fragment, where: Fragment): Promise<number> {
      const rows = inCopies(copies, [where])
      const [found] = await store().select<{ total: string }>(ch`select count() as total ${rows}`)
      const total = Number(found?.total ?? 0)
      if (total === 0) return 0
      // A row for which the condition is null would be deleted.
      const isMeant = ch`copy_id in ${copies} and ifNull(${where}, 0)`
      await store().execute(ch`alter table mail_log ${change} where ${isMeant}`)
      for (const end = Date.now() + CHANGE_MS; Date.now() < end; await sleep(POLL_MS)) {
        const [running] = await store().select(ch`
          select 1 from system.mutations
          where database = currentDatabase() and table = ${'mail_log'} and is_done = 0 limit 1`)
        if (!running) return total
      }
      throw new PastDaysAway()
    },
  }
}

/** The rows of these copies that meet all conditions. */
export const inCopies = (copies: string[], tests: readonly Fragment[]): Fragment =>
  ch`from mail_log where ${joined([ch`copy_id in ${copies}`, ...tests], ' and ')}`

/** A time in ClickHouse as PostgreSQL returns it, which cuts off microseconds. */
export const isoOfMicros = (micros: number): string =>
  new Date(Math.floor(micros / 1000)).toISOString()

/** A time of a filter, which may be in any year. No row is beyond these bounds. */
export const microsOf = (time: Date): number =>
  Math.max(0, Math.min(time.getTime() * 1000, Number.MAX_SAFE_INTEGER))

/** The messages of the days that have moved since a time, the day of that time among them. */
export const pastMessages = (kind: 'alias' | 'credential' | 'domain', name: unknown, since: Date) =>
  sql`select * from mail_log_day_counts
    where kind = ${kind} and name = ${name} and day >= ${dateOf(since)}::date`

/** The oldest day that ended before a time and waits, although no day was copied or moved for an hour. */
export async function stuckDay(db: Core['db'], endedBefore: Date, now: Date) {
  const { rows } = await sql<{ day: string }>`
    select (begins_at at time zone 'UTC')::date::text as day from day_partitions
    where table_name = 'mail_log' and ends_at <= ${endedBefore.toISOString()}::timestamptz
      and ends_at - begins_at = interval '1 day'
      and not exists (
        select from mail_log_moves
        where greatest(copied_at, moved_at) > ${now.toISOString()}::timestamptz - interval '1 hour')
    order by begins_at limit 1`.execute(db)
  return rows[0]?.day
}
