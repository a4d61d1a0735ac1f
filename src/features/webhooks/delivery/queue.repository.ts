import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
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
export async function load(db: Db, ids: number[], now: Date): Promise<Job[]> {
  const rows = await db
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

/** Many outcomes in one transaction: the attempt is logged, and its entry moves on or goes. */
export async function record(tx: Tx, outcomes: Outcome[]): Promise<void> {
  await tx
    .insertInto('webhook_deliveries')
    .values(
      outcomes.map(({ job, delivery }) => ({
        id: delivery.id,
        event_id: job.event.id,
        event_type: job.event.event,
        endpoint_id: delivery.endpointId,
        webhook_url: delivery.url,
        organization_id: delivery.organizationId,
        message_id: messageIdOf(job.event.data),
        delivery_status: delivery.status,
        http_status_code: delivery.httpStatus,
        attempts: job.attempts + 1,
        error_message: delivery.error?.replaceAll('\0', '').slice(0, 2000) ?? null,
        created_at: delivery.at.toISOString(),
        delivered_at: delivery.status === 'delivered' ? delivery.at.toISOString() : null,
      })),
    )
    .execute()
  const dead = outcomes.filter(({ deadLetter }) => deadLetter !== undefined)
  if (dead.length > 0) await buryAll(tx, dead)
  const retried = outcomes.filter(({ retryAt }) => retryAt !== undefined)
  if (retried.length > 0) {
    await sql`
      update webhook_queue set attempts = attempts + 1, due_at = retry.at
      from unnest(${retried.map(({ job }) => job.id)}::bigint[],
        ${retried.map(({ retryAt }) => retryAt?.toISOString())}::timestamptz[]) as retry (id, at)
      where webhook_queue.id = retry.id`.execute(tx)
  }
  const done = outcomes.filter(({ retryAt }) => retryAt === undefined).map(({ job }) => job.id)
  if (done.length > 0) {
    await sql`delete from webhook_queue where id = any(${done}::bigint[])`.execute(tx)
  }
}

const buryAll = (tx: Tx, dead: Outcome[]) =>
  tx
    .insertInto('webhook_dead_letters')
    .values(
      dead.map(({ job, delivery, deadLetter }) => ({
        event_id: job.event.id,
        endpoint_id: delivery.endpointId,
        organization_id: delivery.organizationId,
        event_type: job.event.event,
        endpoint_url: delivery.url,
        last_error: `Gave up after ${job.attempts + 1} attempts: ${delivery.error ?? ''}`
          .replaceAll('\0', '')
          .slice(0, 2000),
        attempt_count: job.attempts + 1,
        payload: deadLetter as object,
        last_attempted_at: delivery.at.toISOString(),
      })),
    )
    .execute()

const messageIdOf = (data: object): string | null => {
  const { message_id } = data as { message_id?: unknown }
  return typeof message_id === 'string' ? message_id : null
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
