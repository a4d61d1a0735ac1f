import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import type { Page } from '../../../../http/paging.ts'
import type { Severity } from '../alert-metrics.ts'

export interface HistoryFilter {
  rule_id?: string
  state?: 'firing' | 'resolved'
  severity?: Severity
  from?: Date
  to?: Date
}

export interface HistorySorting {
  sort: 'created_at' | 'severity'
  direction: 'asc' | 'desc'
}

const matching = (db: Db, filter: HistoryFilter) => {
  let query = db.selectFrom('alert_events')
  if (filter.rule_id !== undefined) query = query.where('rule_id', '=', filter.rule_id)
  if (filter.state !== undefined) query = query.where('state', '=', filter.state)
  if (filter.severity !== undefined) query = query.where('severity', '=', filter.severity)
  if (filter.from) query = query.where('created_at', '>=', filter.from.toISOString())
  if (filter.to) query = query.where('created_at', '<=', filter.to.toISOString())
  return query
}

export async function list(
  db: Db,
  filter: HistoryFilter,
  { sort, direction }: HistorySorting,
  { perPage, offset }: Page,
) {
  const items = await matching(db, filter)
    .select([
      'id',
      'rule_id',
      'rule_name',
      'severity',
      'value',
      'threshold',
      'state',
      'message',
      'created_at',
      'resolved_at',
    ])
    .orderBy(sort, direction)
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await matching(db, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}
