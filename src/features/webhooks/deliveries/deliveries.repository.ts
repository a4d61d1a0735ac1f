import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import type { Page } from '../../../http/paging.ts'

const columns = [
  'id',
  'event_id',
  'event_type',
  'endpoint_id',
  'webhook_url',
  'delivery_status',
  'http_status_code',
  'attempts',
  'error_message',
  'created_at',
  'delivered_at',
] as const

const EXACT = ['delivery_status', 'event_id', 'event_type', 'endpoint_id', 'message_id'] as const

type DeliveryFilter = { [Column in (typeof EXACT)[number]]?: string } & {
  from?: Date
  to?: Date
}

const matching = (db: Db, scope: Scope, filter: DeliveryFilter) => {
  let query = db.selectFrom('webhook_deliveries').where(inScope('webhook_deliveries', scope))
  for (const column of EXACT) {
    const value = filter[column]
    if (value !== undefined) query = query.where(column, '=', value as never)
  }
  if (filter.from) query = query.where('created_at', '>=', filter.from.toISOString())
  if (filter.to) query = query.where('created_at', '<=', filter.to.toISOString())
  return query
}

export async function list(db: Db, scope: Scope, filter: DeliveryFilter, page: Page) {
  const items = await matching(db, scope, filter)
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await matching(db, scope, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('webhook_deliveries')
    .select(columns)
    .where('id', '=', id)
    .where(inScope('webhook_deliveries', scope))
    .executeTakeFirst()

/** Undefined once the clean-up has deleted the event. */
export const findEvent = (db: Db, id: string) =>
  db
    .selectFrom('events')
    .select([
      'id',
      'event',
      'source',
      'created_at',
      'org_id',
      'domain',
      'tags',
      'user_variables',
      'data',
      'metadata',
    ])
    .where('id', '=', id)
    .executeTakeFirst()
