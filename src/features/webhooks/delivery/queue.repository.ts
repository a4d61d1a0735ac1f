import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { prepared } from '../../../database/prepared.ts'
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

type Lanes = readonly number[]

const inLanes = (lanes: Lanes) => sql<SqlBool>`lane = any(${lanes}::smallint[])`
// Written out, not as parameters: partial indexes are chosen by what a statement says.
const neverTried = sql<SqlBool>`attempts = 0 and endpoint_id is null`
const tried = sql<SqlBool>`attempts > 0 and endpoint_id is null`

/** The oldest entries for the global address that were never tried: where the order matters. */
export const firstIds = prepared((db, { lanes, limit }: { lanes: Lanes; limit: number }) =>
  db
    .selectFrom('webhook_queue')
    .select('id')
    .where(neverTried)
    .where(inLanes(lanes))
    .orderBy('id')
    .limit(limit),
)

export const dueRetryIds = prepared(
  (db, { lanes, now, limit }: { lanes: Lanes; now: Date; limit: number }) =>
    db
      .selectFrom('webhook_queue')
      .select('id')
      .where(tried)
      .where('due_at', '<=', sql<string>`${now}`)
      .where(inLanes(lanes))
      .orderBy('due_at')
      .orderBy('id')
      .limit(limit),
)

const due = prepared((db, { ids, now }: { ids: number[]; now: Date }) =>
  db
    .selectFrom('webhook_queue')
    // One by one and in this order, however small the queue was when it was last looked at.
    .innerJoinLateral(
      (from) =>
        from
          .selectFrom('events')
          .selectAll('events')
          .whereRef('events.id', '=', 'webhook_queue.event_id')
          .limit(1)
          .as('events'),
      (join) => join.onTrue(),
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
    .where(sql<SqlBool>`(attempts = 0 or due_at <= ${now}::timestamptz)`)
    .orderBy('webhook_queue.id'),
)

/** Those that are still due: some may have been tried since their ids were read. */
export async function load(byIndex: Db, ids: number[], now: Date): Promise<Job[]> {
  const rows = await due(byIndex, { ids, now })
  return rows.map((row) => ({
    id: row.queue_id,
    lane: row.lane,
    endpointId: row.endpoint_id,
    subject: row.subject,
    attempts: row.attempts,
    event: row,
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
 * may get lost. Entries are named by their ids and not joined: a join planned while the queue was
 * empty would read all of it for each outcome.
 */
const stored = prepared(
  (_db, all: Columns) => sql`
    with attempt as (
      select * from unnest(${all.ids}::text[], ${all.queueIds}::bigint[], ${all.eventIds}::text[],
        ${all.events}::text[], ${all.endpointIds}::text[], ${all.urls}::text[],
        ${all.organizationIds}::text[], ${all.messageIds}::text[], ${all.statuses}::text[],
        ${all.codes}::integer[], ${all.attempts}::integer[], ${all.errors}::text[],
        ${all.times}::timestamptz[], ${all.retryTimes}::timestamptz[], ${all.deadLetters}::text[]
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
      update webhook_queue set (attempts, due_at) =
        (select attempts, retry_at from attempt where queue_id = webhook_queue.id)
      where id = any(${all.retriedIds}::bigint[])
    )
    delete from webhook_queue where id = any(${all.doneIds}::bigint[])`,
)

type Columns = ReturnType<typeof columnsOf>

function columnsOf(outcomes: Outcome[]) {
  const column = <Value>(of: (outcome: Outcome) => Value) => outcomes.map(of)
  return {
    ids: column(({ delivery }) => delivery.id),
    queueIds: column(({ job }) => job.id),
    eventIds: column(({ job }) => job.event.id),
    events: column(({ job }) => job.event.event),
    endpointIds: column(({ delivery }) => delivery.endpointId),
    urls: column(({ delivery }) => delivery.url),
    organizationIds: column(({ delivery }) => delivery.organizationId),
    messageIds: column(({ job }) => messageIdOf(job.event.data)),
    statuses: column(({ delivery }) => delivery.status),
    codes: column(({ delivery }) => delivery.httpStatus),
    attempts: column(({ job }) => job.attempts + 1),
    errors: column(({ delivery }) => storable(delivery.error)),
    times: column(({ delivery }) => delivery.at.toISOString()),
    retryTimes: column(({ retryAt }) => retryAt?.toISOString() ?? null),
    deadLetters: column(({ deadLetter }) => (deadLetter ? JSON.stringify(deadLetter) : null)),
    retriedIds: outcomes.flatMap(({ job, retryAt }) => (retryAt ? [job.id] : [])),
    doneIds: outcomes.flatMap(({ job, retryAt }) => (retryAt ? [] : [job.id])),
  }
}

export async function record(byIndex: Db, outcomes: Outcome[]): Promise<void> {
  await stored(byIndex, columnsOf(outcomes))
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
