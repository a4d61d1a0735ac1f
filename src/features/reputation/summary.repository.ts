import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { SUPPRESSION_TYPES } from '../../hosting/suppressions.repository.ts'

interface DayOfComplaints {
  date: string
  complaints: number
  delivered: number
  complained: number
}

/** One row per UTC day, also for days without activity. */
export async function complaintTrend(
  db: Db,
  organization: string | undefined,
  days: number,
  now: Date,
): Promise<DayOfComplaints[]> {
  const at = now.toISOString()
  const first = sql`(date_trunc('day', ${at}::timestamptz, 'UTC') - make_interval(days => ${days - 1}::int))`
  const day = (column: string) => sql`(${sql.ref(column)} at time zone 'UTC')::date`
  const own = organization === undefined ? sql`true` : sql`organization_id = ${organization}::text`
  const { rows } = await sql<DayOfComplaints>`
    with days as (
      select (generate_series(${first} at time zone 'UTC', ${at}::timestamptz at time zone 'UTC',
        interval '1 day'))::date as date
    ), reports as (
      select ${day('created_at')} as date, count(*) as complaints
      from feedback_loops where ${own} and created_at >= ${first} group by 1
    ), mail as (
      select ${day('bucket')} as date, sum(delivered) as delivered from (
        select bucket, delivered from mail_traffic_hours
        where organization_id = ${organization ?? ''} and bucket >= ${first}
        union all
        select bucket, delivered from mail_traffic_pending where ${own} and bucket >= ${first}
      ) as counted group by 1
    ), people as (
      select ${day('bucket')} as date, sum(complained) as complained from (
        select bucket, complained from engagement_days
        where ${own} and complained > 0 and bucket >= ${first}
        union all
        select bucket, 1 from engagement_pending
        where ${own} and event_type = 'complained' and bucket >= ${first}
      ) as counted group by 1
    )
    select to_char(days.date, 'YYYY-MM-DD') as date, coalesce(complaints, 0)::bigint as complaints,
      coalesce(delivered, 0)::bigint as delivered, coalesce(complained, 0)::bigint as complained
    from days
    left join reports using (date) left join mail using (date) left join people using (date)
    order by days.date`.execute(db)
  return rows
}

type Totals = Record<(typeof SUPPRESSION_TYPES)[number], number>

/** Active entries by kind. */
export async function suppressionTotals(
  db: Db,
  organization: string | undefined,
  now: Date,
): Promise<Totals> {
  let query = db
    .selectFrom('suppressions')
    .select(['suppression_type', sql<number>`count(*)`.as('total')])
    .where('active', '=', true)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now.toISOString())]))
    .groupBy('suppression_type')
  if (organization !== undefined) query = query.where('organization_id', '=', organization)
  const found = new Map(
    (await query.execute()).map(({ suppression_type, total }) => [suppression_type, total]),
  )
  return Object.fromEntries(SUPPRESSION_TYPES.map((type) => [type, found.get(type) ?? 0])) as Totals
}
