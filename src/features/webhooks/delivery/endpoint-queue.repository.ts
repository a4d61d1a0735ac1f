import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** An endpoint that something waits for, and an entry that is due; null when none is. */
export interface Waiting {
  lane: number
  endpoint_id: string
  id: number | null
}

export interface Sweep {
  lanes: readonly number[]
  /** Beside each lane, the endpoint to go on after. */
  after: readonly string[]
  /** Endpoints per lane. */
  endpoints: number
  /** Entries per endpoint. */
  entries: number
  /** Endpoints that need nothing now. */
  full: readonly string[]
}

const FIRST = sql`attempts = 0`
const RETRIED = sql`attempts > 0`

export const sweepFirst = (db: Db, sweep: Sweep) => sweepEntries(db, sweep, FIRST, sql`order by id`)

export const sweepRetries = (db: Db, sweep: Sweep, now: Date) =>
  sweepEntries(
    db,
    sweep,
    RETRIED,
    sql`and due_at <= ${now.toISOString()}::timestamptz order by due_at, id`,
  )

/**
 * Goes from endpoint to endpoint on the index, a step for each however much waits for it, and takes
 * a few of the oldest entries of each: a backlog of millions costs what one entry costs.
 */
async function sweepEntries(
  db: Db,
  { lanes, after, endpoints, entries, full }: Sweep,
  state: RawBuilder<unknown>,
  oldest: RawBuilder<unknown>,
): Promise<Waiting[]> {
  const { rows } = await sql<Waiting>`
    select owned.lane, found.endpoint_id, entry.id
    from unnest(${lanes}::smallint[], ${after}::text[]) as owned (lane, after)
    cross join lateral (
      with recursive step as (
        (select endpoint_id, 1 as nth from webhook_queue
         where ${state} and lane = owned.lane and endpoint_id > owned.after
         order by endpoint_id limit 1)
        union all
        select
          (select webhook_queue.endpoint_id from webhook_queue
           where ${state} and lane = owned.lane and webhook_queue.endpoint_id > step.endpoint_id
           order by webhook_queue.endpoint_id limit 1),
          nth + 1
        from step where step.endpoint_id is not null and nth < ${endpoints}::int
      )
      select endpoint_id from step where endpoint_id is not null
    ) as found
    left join unnest(${full}::text[]) as held (endpoint_id) on held.endpoint_id = found.endpoint_id
    left join lateral (
      select id from webhook_queue
      where ${state} and lane = owned.lane and endpoint_id = found.endpoint_id
        and held.endpoint_id is null ${oldest} limit ${entries}::int
    ) as entry on true`.execute(db)
  return rows
}

/** The active ones among them, with what an attempt needs to know. */
export const findActive = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'organization_id', 'url', 'secret', 'previous_secret', 'previous_secret_until'])
    .where(sql<boolean>`id = any(${ids}::text[])`)
    .where('active', '=', true)
    .execute()

export type ActiveEndpoint = Awaited<ReturnType<typeof findActive>>[number]

/** What waits for endpoints that are gone or inactive, some at a time; answers how many went. */
export async function deleteUnwanted(
  db: Db,
  endpointIds: readonly string[],
  limit: number,
): Promise<number> {
  const entriesOf = (state: RawBuilder<unknown>) => sql`
    select id from webhook_queue
    where ${state} and lane = webhook_endpoint_lane(gone.id) and endpoint_id = gone.id
    limit ${limit}::int`
  const { numAffectedRows } = await sql`
    delete from webhook_queue where id = any(array(
      select entry.id from unnest(${endpointIds}::text[]) as gone (id)
      cross join lateral ((${entriesOf(FIRST)}) union all (${entriesOf(RETRIED)})) as entry
      where not exists (
        select from webhook_endpoints where webhook_endpoints.id = gone.id and active)))`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}
