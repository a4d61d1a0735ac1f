import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'
import type { StoredEvent } from './stored-payload.ts'

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

interface DeadLetterFilter {
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

export const find = (db: Db, scope: Scope, id: number) =>
  db
    .selectFrom('webhook_dead_letters')
    .select(detailed)
    .where('id', '=', id)
    .where(inScope('webhook_dead_letters', scope))
    .executeTakeFirst()

/** Locks in the order of ids, so that two callers cannot deadlock. */
export const lock = (tx: Tx, scope: Scope, ids: number[]) =>
  tx
    .selectFrom('webhook_dead_letters')
    .select(detailed)
    .where('id', 'in', ids)
    .where(inScope('webhook_dead_letters', scope))
    .orderBy('id')
    .forUpdate()
    .execute()

export const isStored = async (db: Db, eventId: string): Promise<boolean> =>
  (await db.selectFrom('events').select('id').where('id', '=', eventId).executeTakeFirst()) !==
  undefined

/** Returns the events that still exist and locks them against deletion. */
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

/** Does nothing when the replay of another letter of this event has restored it already. */
export const restoreEvent = (tx: Tx, id: string, event: StoredEvent) =>
  tx
    .insertInto('events')
    .values({ id, ...event })
    .onConflict((conflict) => conflict.columns(['created_at', 'id']).doNothing())
    .execute()

export const isActiveEndpoint = async (db: Db, id: string): Promise<boolean> =>
  (await db
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('id', '=', id)
    .where('active', '=', true)
    .executeTakeFirst()) !== undefined

/** Returns whether the event still waits for its delivery to the endpoint. */
export const isQueued = async (
  db: Db,
  { event_id, endpoint_id }: Pick<DeadLetterRow, 'event_id' | 'endpoint_id'>,
): Promise<boolean> =>
  (await db
    .selectFrom('webhook_queue')
    .select('id')
    .where('event_id', '=', event_id)
    .where('endpoint_id', 'is not distinct from', endpoint_id)
    .executeTakeFirst()) !== undefined

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

export const markResolved = (tx: Tx, id: number, resolved_at: string) =>
  tx
    .updateTable('webhook_dead_letters')
    .set({ status: 'resolved', resolved_at })
    .where('id', '=', id)
    .execute()
