import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'
import type { StoredEvent } from './envelope.ts'

const columns = [
  'id',
  'organization_id',
  'event_type',
  'endpoint_id',
  'endpoint_url',
  'last_error',
  'attempt_count',
  'status',
  'created_at',
  'last_attempted_at',
  'resolved_at',
] as const

const detailed = [...columns, 'event_id', sql<unknown>`payload`.as('payload')] as const

export type DeadLetterRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface DeadLetterFilter {
  status?: DeadLetterRow['status']
  event_type?: string
  endpoint_id?: string
}

const matching = (db: Db, scope: Scope, filter: DeadLetterFilter) => {
  const { status, event_type, endpoint_id } = filter
  let query = db.selectFrom('webhook_dead_letters').where(inScope('webhook_dead_letters', scope))
  if (status !== undefined) query = query.where('status', '=', status)
  if (event_type !== undefined) query = query.where('event_type', '=', event_type)
  if (endpoint_id !== undefined) query = query.where('endpoint_id', '=', endpoint_id)
  return query
}

export async function list(
  db: Db,
  scope: Scope,
  filter: DeadLetterFilter,
  { perPage, offset }: Page,
) {
  const items = await matching(db, scope, filter)
    .select(columns)
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await matching(db, scope, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, id: number) =>
  db.selectFrom('webhook_dead_letters').select(detailed).where('id', '=', id).executeTakeFirst()

/** Always in the same order, so that two who want some of the same do not wait for each other. */
export const lock = (tx: Tx, ids: number[]) =>
  tx
    .selectFrom('webhook_dead_letters')
    .select(detailed)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute()

export const isStored = async (db: Db, eventId: string): Promise<boolean> =>
  (await db.selectFrom('events').select('id').where('id', '=', eventId).executeTakeFirst()) !==
  undefined

/** Which of these events there are; they stay until the transaction ends. */
export async function holdEvents(tx: Tx, ids: string[]): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('events')
    .select('id')
    .where('id', 'in', ids)
    .orderBy('id')
    .forKeyShare()
    .execute()
  return new Set(rows.map(({ id }) => id))
}

/** Two letters may be about one event; whoever comes second finds it there. */
export const restoreEvent = (tx: Tx, id: string, event: StoredEvent) =>
  tx
    .insertInto('events')
    .values({ id, ...event })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()

export const isActiveEndpoint = async (db: Db, id: string): Promise<boolean> =>
  (await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('id', '=', id)
    .where('active', '=', true)
    .executeTakeFirst()) !== undefined

/** Behind what already waits for the same target, as a first attempt. */
export const enqueue = (tx: Tx, eventId: string, endpointId: string | null) =>
  sql`
    insert into webhook_queue (event_id, lane, subject, endpoint_id)
    select id, coalesce(webhook_endpoint_lane(${endpointId}::text), home.lane), home.lane,
      ${endpointId}::text
    from events
    cross join lateral (
      select (abs(hashtext(coalesce(org_id, ''))::bigint) % 64)::smallint as lane) as home
    where id = ${eventId}`.execute(tx)

export const markRetrying = (tx: Tx, id: number, now: Date) =>
  tx
    .updateTable('webhook_dead_letters')
    .set({
      status: 'retrying',
      attempt_count: sql`attempt_count + 1`,
      last_attempted_at: now.toISOString(),
    })
    .where('id', '=', id)
    .execute()
