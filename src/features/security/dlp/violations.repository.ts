import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { nameOf } from '../../../database/paging.ts'
import { contains } from '../../../database/search.ts'
import type { Page } from '../../../http/paging.ts'
import type { Sort } from '../../../http/sorting.ts'
import { bySeverity } from './policies.repository.ts'

// matched_pattern and details describe the matched text and never leave the database.
const columns = [
  'id',
  'organization_id',
  nameOf('organizations', 'dlp_violations.organization_id').as('organization_name'),
  'policy_id',
  sql<string | null>`${nameOf('dlp_policies', 'dlp_violations.policy_id')}`.as('policy_name'),
  sql<string | null>`${nameOf('dlp_policies', 'dlp_violations.policy_id', 'policy_type')}`.as(
    'policy_type',
  ),
  'message_id',
  'sender',
  'recipient',
  'violation_type',
  'action_taken',
  'severity',
  'has_match',
  sql<null>`null`.as('matched_pattern'),
  sql<null>`null`.as('details'),
  sql<true>`true`.as('redacted'),
  'created_at',
] as const

export interface ViolationFilter {
  organization_id?: string
  policy_id?: number
  severity?: string
  violation_type?: string
  action_taken?: string
  from?: Date
  to?: Date
  q?: string
}

const EXACT = [
  'organization_id',
  'policy_id',
  'severity',
  'violation_type',
  'action_taken',
] as const

export type ViolationSort = Sort<'created_at' | 'severity' | 'sender'>

export async function list(
  db: Db,
  { from, to, q, ...exact }: ViolationFilter,
  { by, direction }: ViolationSort,
  { perPage, offset }: Page,
) {
  let query = db.selectFrom('dlp_violations')
  for (const column of EXACT) {
    const value = exact[column]
    if (value !== undefined) query = query.where(column, '=', value as never)
  }
  if (from) query = query.where('created_at', '>=', from.toISOString())
  if (to) query = query.where('created_at', '<=', to.toISOString())
  if (q) query = query.where(contains(['sender', 'recipient'], q))
  const items = await query
    .select(columns)
    .orderBy(by === 'severity' ? bySeverity('severity') : sql.ref(by), direction)
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, id: number) =>
  db.selectFrom('dlp_violations').select(columns).where('id', '=', id).executeTakeFirst()

export const countOfPolicy = async (db: Db, policyId: number): Promise<number> => {
  const { total } = await db
    .selectFrom('dlp_violations')
    .select(sql<number>`count(*)`.as('total'))
    .where('policy_id', '=', policyId)
    .executeTakeFirstOrThrow()
  return total
}

const TOP_POLICIES = 25

export interface Counts {
  total: number
  by_severity: { severity: string; count: number }[]
  by_policy: { policy_id: number; policy_name: string | null; count: number }[]
  by_action_taken: { action_taken: string; count: number }[]
  series: { date: string; count: number }[]
}

/** Includes today, and days without violations. */
export async function summary(
  db: Db,
  organizationId: string | undefined,
  days: number,
  now: Date,
): Promise<Counts> {
  const today = now.toISOString().slice(0, 10)
  const { rows } = await sql<Counts>`
    with mine as (
      select * from dlp_violations
      where (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
    ), first as (
      select ${today}::date - (${days}::integer - 1) as day
    ), recent as (
      select policy_id, severity, action_taken, (created_at at time zone 'UTC')::date as day
      from mine
      where created_at >= (select day from first)::timestamp at time zone 'UTC'
    )
    select
      (select count(*) from mine) as total,
      (select coalesce(jsonb_agg(one), '[]') from (
        select severity, count(*) as count from recent
        group by severity order by ${bySeverity('severity')} desc nulls last, severity
      ) one) as by_severity,
      (select coalesce(jsonb_agg(one), '[]') from (
        select policy_id,
          (select name from dlp_policies where id = recent.policy_id) as policy_name,
          count(*) as count
        from recent group by policy_id order by count(*) desc, policy_id limit ${TOP_POLICIES}
      ) one) as by_policy,
      (select coalesce(jsonb_agg(one), '[]') from (
        select action_taken, count(*) as count from recent
        group by action_taken order by count(*) desc, action_taken
      ) one) as by_action_taken,
      (select jsonb_agg(one) from (
        select to_char(day, 'YYYY-MM-DD') as date,
          (select count(*) from recent where recent.day = days.day::date) as count
        from generate_series((select day from first), ${today}::date, interval '1 day') as days (day)
        order by day
      ) one) as series`.execute(db)
  return rows[0] as Counts
}

interface NewViolation {
  organization_id: string
  policy_id: number
  message_id: string | null
  sender: string
  recipient: string | null
  violation_type: string
  action_taken: string
  severity: string
  has_match: boolean
  matched_pattern: string | null
  details: object | null
  created_at: string
}

export const insert = (tx: Tx, rows: NewViolation[]) =>
  tx.insertInto('dlp_violations').values(rows).execute()
