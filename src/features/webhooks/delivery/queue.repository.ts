import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { StoredEvent } from './envelope.ts'

/** A queue entry with the event it is about. */
export interface Job {
  id: number
  lane: number
  /** null: the global address. */
  endpointId: string | null
  /** First attempts of one subject at one target are made one after the other. */
  subject: number
  attempts: number
  event: StoredEvent
}

const inLanes = (lanes: readonly number[]) => sql<SqlBool>`lane = any(${lanes}::smallint[])`
// Written out, not as parameters: partial indexes are chosen by what a statement says.
const neverTried = sql<SqlBool>`attempts = 0 and endpoint_id is null`
const tried = sql<SqlBool>`attempts > 0 and endpoint_id is null`

/** The oldest entries for the global address that were never tried: where the order matters. */
export const firstIds = (db: Db, lanes: readonly number[], limit: number) =>
  db
    .selectFrom('webhook_queue')
    .select('id')
    .where(neverTried)
    .where(inLanes(lanes))
    .orderBy('id')
    .limit(limit)
    .execute()

export const dueRetryIds = (db: Db, lanes: readonly number[], now: Date, limit: number) =>
  db
    .selectFrom('webhook_queue')
    .select('id')
    .where(tried)
    .where('due_at', '<=', now.toISOString())
    .where(inLanes(lanes))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute()

/** Those that are still due: some may have been tried since their ids were read. */
export async function load(planningAnew: Db, ids: number[], now: Date): Promise<Job[]> {
  const rows = await planningAnew
    .selectFrom('webhook_queue')
    .innerJoin('events', 'events.id', 'webhook_queue.event_id')
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
  return rows.map(({ queue_id, lane, endpoint_id, subject, attempts, ...event }) => ({
    id: queue_id,
    lane,
    endpointId: endpoint_id,
    subject,
    attempts,
    event,
  }))
}

/** What came of an attempt, as it is stored. */
export interface Outcome {
  job: Job
  delivery: {
    id: string
    endpointId: string | null
    organizationId: string | null
    url: string
    status: 'delivered' | 'retrying' | 'failed' | 'abandoned'
    httpStatus: number
    error: string | null
    at: Date
  }
  /** When it is tried again; undefined when it is done with. */
  retryAt?: Date
  deadLetter?: object
}

/**
 * Many outcomes in one statement, the same text however many there are: each attempt is logged, and
 * its entry moves on or goes. Storing the same outcomes again changes nothing: the answer to a commit
 * may get lost.
 */
export async function record(planningAnew: Db, outcomes: Outcome[]): Promise<void> {
  const column = <Value>(of: (outcome: Outcome) => Value) => outcomes.map(of)
  await sql`
    with attempt as (
      select * from unnest(
        ${column(({ delivery }) => delivery.id)}::text[],
        ${column(({ job }) => job.id)}::bigint[],
        ${column(({ job }) => job.event.id)}::text[],
        ${column(({ job }) => job.event.event)}::text[],
        ${column(({ delivery }) => delivery.endpointId)}::text[],
        ${column(({ delivery }) => delivery.url)}::text[],
        ${column(({ delivery }) => delivery.organizationId)}::text[],
        ${column(({ job }) => messageIdOf(job.event.data))}::text[],
        ${column(({ delivery }) => delivery.status)}::text[],
        ${column(({ delivery }) => delivery.httpStatus)}::integer[],
        ${column(({ job }) => job.attempts + 1)}::integer[],
        ${column(({ delivery }) => storable(delivery.error))}::text[],
        ${column(({ delivery }) => delivery.at.toISOString())}::timestamptz[],
        ${column(({ retryAt }) => retryAt?.toISOString() ?? null)}::timestamptz[],
        ${column(({ deadLetter }) => (deadLetter ? JSON.stringify(deadLetter) : null))}::text[]
      ) as attempt (id, queue_id, event_id, event_type, endpoint_id, url, organization_id, message_id,
        status, code, attempts, error, at, retry_at, dead_letter)
    ), logged as (
      insert into webhook_deliveries (id, event_id, event_type, endpoint_id, webhook_url,
        organization_id, message_id, delivery_status, http_status_code, attempts, error_message,
        created_at, delivered_at)
      select id, event_id, event_type, endpoint_id, url, organization_id, message_id, status, code,
        attempts, error, at, case status when 'delivered' then at end
      from attempt
      on conflict (id) do nothing
      returning id
    ), buried as (
      insert into webhook_dead_letters (event_id, endpoint_id, organization_id, event_type,
        endpoint_url, last_error, attempt_count, payload, last_attempted_at)
      select event_id, endpoint_id, organization_id, event_type, url,
        left('Gave up after ' || attempts || ' attempts: ' || coalesce(error, ''), ${SHOWN}::int),
        attempts, dead_letter::jsonb, at
      from attempt join logged using (id)
      where dead_letter is not null
    ), put_off as (
      update webhook_queue set attempts = attempt.attempts, due_at = retry_at
      from attempt where webhook_queue.id = queue_id and retry_at is not null
    )
    delete from webhook_queue using attempt where webhook_queue.id = queue_id and retry_at is null`.execute(
    planningAnew,
  )
}

const SHOWN = 2000
// Longer ones fit no index, and RFC 5322 §2.1.1 has no longer lines.
const LONGEST_MESSAGE_ID = 998

const storable = (text: string | null) => text?.replaceAll('\0', '').slice(0, SHOWN) ?? null

const messageIdOf = (data: object): string | null => {
  const { message_id } = data as { message_id?: unknown }
  return typeof message_id === 'string' ? message_id.slice(0, LONGEST_MESSAGE_ID) : null
}

export const queueState = async (db: Db) => {
  const { rows } = await sql<{ depth: number; oldest_seconds: number; dead: number }>`
    select
      (select count(*) from webhook_queue) as depth,
      (select coalesce(extract(epoch from now() - min(events.created_at)), 0)::float8
       from events where id = (select event_id from webhook_queue order by id limit 1)) as oldest_seconds,
      (select count(*) from webhook_dead_letters where status <> 'resolved') as dead`.execute(db)
  return rows[0] as { depth: number; oldest_seconds: number; dead: number }
}
