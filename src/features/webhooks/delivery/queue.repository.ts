import { type RawBuilder, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { StoredEvent } from './envelope.ts'

/** A queue entry with its event. */
export interface Job {
  id: number
  lane: number
  /** null: the global URL. */
  endpointId: string | null
  /** First attempts about one subject at one receiver run one after the other. */
  subject: number
  attempts: number
  event: StoredEvent
}

/**
 * Runs statements on the queue with plans for its present size. The queue is empty most of the time,
 * and a plan that was cached then would scan all of a long queue.
 */
export const withFreshPlans = <Result>(db: Db, work: (tx: Tx) => Promise<Result>) =>
  db.transaction().execute(async (tx) => {
    await sql`set local plan_cache_mode = force_custom_plan`.execute(tx)
    return work(tx)
  })

type Lanes = readonly number[]

// Literals, because PostgreSQL chooses a partial index by the text of the condition.
const FIRST = sql<SqlBool>`attempts = 0`
const RETRIED = sql<SqlBool>`attempts > 0`

/** The oldest entries for the global URL that are due: first attempts and retries, a limit of each. */
export async function findDueForGlobalUrl(
  db: Db,
  { lanes, now, limit }: { lanes: Lanes; now: Date; limit: number },
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    (select id from webhook_queue
     where ${FIRST} and endpoint_id is null and lane = any(${lanes}::smallint[])
     order by id limit ${limit}::int)
    union all
    (select id from webhook_queue
     where ${RETRIED} and endpoint_id is null and lane = any(${lanes}::smallint[])
       and due_at <= ${now.toISOString()}::timestamptz
     order by due_at, id limit ${limit}::int)`.execute(db)
  return rows.map(({ id }) => id)
}

/** The endpoints that have entries in these lanes. */
export async function findWaitingEndpoints(db: Db, lanes: Lanes): Promise<string[]> {
  const { rows } = await sql<{ endpoint_id: string }>`
    select endpoint_id from unnest(${lanes}::smallint[]) as owned (lane)
    cross join lateral (${endpointsOfLane(FIRST)} union ${endpointsOfLane(RETRIED)}) as waiting`.execute(
    db,
  )
  return rows.map(({ endpoint_id }) => endpoint_id)
}

/** Steps from endpoint to endpoint on the index, so the entries of an endpoint are not counted. */
const endpointsOfLane = (state: RawBuilder<SqlBool>) => sql`
  (with recursive step as (
    (select endpoint_id from webhook_queue
     where ${state} and lane = owned.lane and endpoint_id is not null
     order by endpoint_id limit 1)
    union all
    select
      (select webhook_queue.endpoint_id from webhook_queue
       where ${state} and lane = owned.lane and webhook_queue.endpoint_id > step.endpoint_id
       order by webhook_queue.endpoint_id limit 1)
    from step where step.endpoint_id is not null
  )
  select endpoint_id from step where endpoint_id is not null)`

/** The oldest entries of each endpoint that are due: first attempts and retries, a limit of each. */
export async function findDueForEndpoints(
  db: Db,
  { endpointIds, now, limit }: { endpointIds: readonly string[]; now: Date; limit: number },
): Promise<{ id: number; endpoint_id: string }[]> {
  const entries = (state: RawBuilder<SqlBool>, rest: RawBuilder<unknown>) => sql`
    (select id from webhook_queue
     where ${state} and lane = webhook_endpoint_lane(endpoint.id) and endpoint_id = endpoint.id
       ${rest} limit ${limit}::int)`
  const { rows } = await sql<{ id: number; endpoint_id: string }>`
    select entry.id, endpoint.id as endpoint_id
    from unnest(${endpointIds}::text[]) as endpoint (id)
    cross join lateral (
      ${entries(FIRST, sql`order by id`)}
      union all
      ${entries(RETRIED, sql`and due_at <= ${now.toISOString()}::timestamptz order by due_at, id`)}
    ) as entry`.execute(db)
  return rows
}

/** Loads the entries that are still due; some may have been tried since their ids were read. */
export async function load(db: Db, ids: readonly number[], now: Date): Promise<Job[]> {
  const rows = await db
    .selectFrom('webhook_queue')
    .innerJoin('events', (join) =>
      join
        .onRef('events.created_at', '=', 'webhook_queue.event_created_at')
        .onRef('events.id', '=', 'webhook_queue.event_id'),
    )
    .select([
      'webhook_queue.id as queue_id',
      'webhook_queue.lane',
      'webhook_queue.endpoint_id',
      sql<number>`coalesce(webhook_queue.subject, webhook_queue.lane)`.as('subject'),
      'webhook_queue.attempts',
      'events.id',
      'events.event',
      'events.source',
      'events.org_id',
      'events.domain',
      'events.tags',
      'events.user_variables',
      'events.data',
      'events.metadata',
      'events.created_at',
    ])
    .where(sql<SqlBool>`webhook_queue.id = any(${ids}::bigint[])`)
    .where(sql<SqlBool>`(attempts = 0 or due_at <= ${now.toISOString()}::timestamptz)`)
    .orderBy('webhook_queue.id')
    .execute()
  return rows.map((row) => ({
    id: row.queue_id,
    lane: row.lane,
    endpointId: row.endpoint_id,
    subject: row.subject,
    attempts: row.attempts,
    event: row,
  }))
}

/** The active ones of these endpoints, with what an attempt needs. */
export const findActiveEndpoints = (db: Db, ids: readonly string[]) =>
  db
    .selectFrom('webhook_endpoints')
    .select(['id', 'organization_id', 'url', 'secret', 'previous_secret', 'previous_secret_until'])
    .where(sql<SqlBool>`id = any(${ids}::text[])`)
    .where('active', '=', true)
    .execute()

export type ActiveEndpoint = Awaited<ReturnType<typeof findActiveEndpoints>>[number]

/** Deletes entries of endpoints that are deleted or inactive. Returns how many it deleted. */
export async function deleteUndeliverable(
  db: Db,
  endpointIds: readonly string[],
  limit: number,
): Promise<number> {
  const entries = (state: RawBuilder<SqlBool>) => sql`
    (select id from webhook_queue
     where ${state} and lane = webhook_endpoint_lane(gone.id) and endpoint_id = gone.id
     limit ${limit}::int)`
  const { numAffectedRows } = await sql`
    delete from webhook_queue where id = any(array(
      select entry.id from unnest(${endpointIds}::text[]) as gone (id)
      cross join lateral (${entries(FIRST)} union all ${entries(RETRIED)}) as entry
      where not exists (
        select from webhook_endpoints where webhook_endpoints.id = gone.id and active)))`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}

/** Puts an event behind the entries that already wait for its receiver, as a first attempt. */
export const enqueueAgain = (tx: Tx, eventId: string, endpointId: string | null) =>
  sql`
    insert into webhook_queue (event_id, event_created_at, lane, subject, endpoint_id)
    select id, created_at, coalesce(webhook_endpoint_lane(${endpointId}::text), home.lane), home.lane,
      ${endpointId}::text
    from events
    cross join lateral (
      select (abs(hashtext(coalesce(org_id, ''))::bigint) % 64)::smallint as lane) as home
    where id = ${eventId}`.execute(tx)

export const queueState = async (db: Db) => {
  const { rows } = await sql<{ depth: number; oldest_seconds: number; dead: number }>`
    select
      (select count(*) from webhook_queue) as depth,
      coalesce(extract(epoch from now()
        - (select event_created_at from webhook_queue order by id limit 1)), 0)::float8 as oldest_seconds,
      (select count(*) from webhook_dead_letters where status <> 'resolved') as dead`.execute(db)
  return rows[0] as { depth: number; oldest_seconds: number; dead: number }
}
