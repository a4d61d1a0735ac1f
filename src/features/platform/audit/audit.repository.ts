import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'

const columns = [
  'id',
  'operator_id',
  'operator_email',
  'api_key_id',
  'caller_scope',
  'action',
  'target_type',
  'target_id',
  'organization_id',
  'request_body',
  'result',
  'status_code',
  'ip_address',
  'correlation_id',
  'created_at',
] as const

const EXACT = [
  'operator_id',
  'operator_email',
  'action',
  'target_type',
  'target_id',
  'organization_id',
  'result',
  'caller_scope',
  'correlation_id',
] as const

export type AuditFilter = { [Column in (typeof EXACT)[number]]?: string } & {
  q?: string
  from?: Date
  to?: Date
}

const matching = (db: Db, filter: AuditFilter) => {
  let query = db.selectFrom('operator_audit')
  for (const column of EXACT) {
    const value = filter[column]
    if (value !== undefined) query = query.where(sql<boolean>`${sql.ref(column)} = ${value}`)
  }
  if (filter.from) query = query.where('created_at', '>=', filter.from.toISOString())
  if (filter.to) query = query.where('created_at', '<=', filter.to.toISOString())
  if (filter.q) query = query.where(contains(['action', 'target_id', 'operator_email'], filter.q))
  return query
}

export async function list(db: Db, filter: AuditFilter, { perPage, offset }: Page) {
  const items = await matching(db, filter)
    .select(columns)
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await matching(db, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, id: number) =>
  db.selectFrom('operator_audit').select(columns).where('id', '=', id).executeTakeFirst()

const MAX_FACETS = 200

/** Distinct values by a loose index scan: the cost depends on the number of values, not of rows. */
export async function distinct(
  db: Db,
  column: 'action' | 'target_type' | 'operator_id',
): Promise<string[]> {
  const name = sql.ref(column)
  const { rows } = await sql<{ value: string }>`
    with recursive steps as (
      (select min(${name}) as value from operator_audit)
      union all
      select (select min(${name}) from operator_audit where ${name} > steps.value)
      from steps where steps.value is not null
    )
    select value from steps where value is not null limit ${MAX_FACETS}`.execute(db)
  return rows.map(({ value }) => value)
}

/** Returns the most recent e-mail address of each operator in the trail. */
export const emailsOf = async (db: Db, ids: string[]) => {
  const { rows } = await sql<{ id: string; email: string }>`
    select operators.id, latest.operator_email as email
    from unnest(${ids}::text[]) as operators (id)
    cross join lateral (
      select operator_email from operator_audit
      where operator_id = operators.id order by id desc limit 1
    ) latest
    where latest.operator_email is not null
    order by email`.execute(db)
  return rows
}
