import { sql } from 'kysely'
import type { Db, Tx } from '../../../../database/database.ts'
import { contains } from '../../../../database/search.ts'
import type { Page } from '../../../../http/paging.ts'
import type { Comparator, MetricName, Severity } from '../alert-metrics.ts'

const columns = [
  'id',
  'name',
  'description',
  'metric',
  'comparator',
  'threshold',
  'for_seconds',
  'severity',
  'enabled',
  'channel_ids',
  'organization_id',
  'last_fired_at',
  'created_at',
  'updated_at',
] as const

/** The column is text, so that a new metric needs no migration. */
type WithMetric = { metric: MetricName }

export interface RuleFields {
  name: string
  description: string | null
  metric: MetricName
  comparator: Comparator
  threshold: number
  for_seconds: number
  severity: Severity
  enabled: boolean
  channel_ids: string[]
  organization_id: string | null
}

export interface RuleFilter {
  q?: string
  metric?: string
  severity?: Severity
  enabled?: boolean
  organization_id?: string
}

export interface Sorting {
  sort: 'created_at' | 'name' | 'metric' | 'severity' | 'updated_at' | 'last_fired_at'
  direction: 'asc' | 'desc'
}

const matching = (db: Db, filter: RuleFilter) => {
  let query = db.selectFrom('alert_rules')
  if (filter.metric !== undefined) query = query.where('metric', '=', filter.metric)
  if (filter.severity !== undefined) query = query.where('severity', '=', filter.severity)
  if (filter.enabled !== undefined) query = query.where('enabled', '=', filter.enabled)
  if (filter.organization_id !== undefined) {
    query = query.where('organization_id', '=', filter.organization_id)
  }
  if (filter.q) query = query.where(contains(['name', 'description'], filter.q))
  return query
}

export async function list(
  db: Db,
  filter: RuleFilter,
  { sort, direction }: Sorting,
  { perPage, offset }: Page,
) {
  const items = await matching(db, filter)
    .select(columns)
    .$narrowType<WithMetric>()
    // Rules that never fired come last in both directions.
    .orderBy(sql.ref(sort), (order) => order[direction]().nullsLast())
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await matching(db, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export async function names(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('alert_rules').select('name').execute()
  return rows.map(({ name }) => name)
}

export const find = (db: Db, id: string) =>
  db
    .selectFrom('alert_rules')
    .select(columns)
    .$narrowType<WithMetric>()
    .where('id', '=', id)
    .executeTakeFirst()

export const lock = (tx: Tx, id: string) =>
  tx
    .selectFrom('alert_rules')
    .select(columns)
    .$narrowType<WithMetric>()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()

export const insert = (tx: Tx, id: string, fields: RuleFields, now: Date) => {
  const time = now.toISOString()
  return tx
    .insertInto('alert_rules')
    .values({ id, ...fields, created_at: time, updated_at: time })
    .returning(columns)
    .$narrowType<WithMetric>()
    .executeTakeFirstOrThrow()
}

/** A changed condition restarts `for_seconds`. */
export const update = (
  tx: Tx,
  id: string,
  fields: Partial<RuleFields>,
  { restartsBreach, now }: { restartsBreach: boolean; now: Date },
) =>
  tx
    .updateTable('alert_rules')
    .set({
      ...fields,
      ...(restartsBreach && { breach_began_at: null }),
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .returning(columns)
    .$narrowType<WithMetric>()
    .executeTakeFirstOrThrow()

export const remove = (tx: Tx, id: string) =>
  tx.deleteFrom('alert_rules').where('id', '=', id).execute()

/** The evaluator skips disabled and deleted rules, so it would never resolve this event. */
export const resolveOpenEvent = (tx: Tx, ruleId: string, why: string, now: Date) =>
  tx
    .updateTable('alert_events')
    .set({ state: 'resolved', resolved_at: now.toISOString(), message: why })
    .where('rule_id', '=', ruleId)
    .where('state', '=', 'firing')
    .execute()

export async function existingChannels(tx: Tx, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set()
  const rows = await tx.selectFrom('alert_channels').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}

/** Locks the row, so that the organization still exists when the rule is stored. */
export const lockOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()
