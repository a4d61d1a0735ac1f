import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { ulid } from '../../lib/ulid.ts'
import type { Period, PeriodType } from './period.ts'
import type { Counts } from './scoring.ts'

export interface Counted extends Counts {
  domain_id: string
  organization_id: string
  domain: string
  by_isp: Record<string, number> | null
}

/** Hours are summed from quarters, longer periods from days; rows not rolled up yet count too. */
const SOURCES = { HOURLY: 'quarters', DAILY: 'days', WEEKLY: 'days', MONTHLY: 'days' } as const

/** The counts of every domain with activity in a period. */
export async function countsIn(db: Db, type: PeriodType, { start, end }: Period) {
  const source = SOURCES[type]
  const [from, to] = [start.toISOString(), end.toISOString()]
  const inPeriod = (column: string) => sql`${sql.ref(column)} >= ${from}::timestamptz
    and ${sql.ref(column)} < ${to}::timestamptz`
  const { rows } = await sql<Counted>`
    with counted as (
      select organization_id, domain, sent, delivered, bounced, 0 as complained, 0 as opened, 0 as clicked
      from ${sql.table(`mail_traffic_${source}`)} where ${inPeriod('bucket')} and sent <> 0
      union all
      select organization_id, domain, sent, delivered, bounced, 0, 0, 0
      from mail_traffic_pending where ${inPeriod('bucket')} and sent <> 0
      union all
      select organization_id, domain, 0, 0, 0, complained, opened, clicked
      from ${sql.table(`engagement_${source}`)} where ${inPeriod('bucket')}
      union all
      select organization_id, domain, 0, 0, 0, (event_type = 'complained')::int,
        (event_type = 'opened')::int, (event_type = 'clicked')::int
      from engagement_pending where ${inPeriod('bucket')}
    ), sums as (
      select organization_id, domain, sum(sent)::bigint as sent, sum(delivered)::bigint as delivered,
        sum(bounced)::bigint as bounced, sum(complained)::bigint as complained,
        sum(opened)::bigint as opened, sum(clicked)::bigint as clicked
      from counted group by 1, 2
    ), providers as (
      select organization_id, sender_domain as domain, jsonb_object_agg(isp_name, reports) as by_isp
      from (
        select organization_id, sender_domain, isp_name, count(*) as reports
        from feedback_loops where ${inPeriod('created_at')} and sender_domain is not null
        group by 1, 2, 3
      ) as reported
      group by 1, 2
    )
    select domains.id as domain_id, sums.*, by_isp
    from sums
    join domains on domains.domain = sums.domain and domains.organization_id = sums.organization_id
    left join providers on providers.organization_id = sums.organization_id
      and providers.domain = sums.domain
    order by domains.id`.execute(db)
  return rows
}

export interface Score {
  domain_id: string
  organization_id: string
  domain: string
  overall_score: number
  deliverability_score: number
  engagement_score: number
  emails_sent: number
  emails_delivered: number
  emails_bounced: number
  emails_complained: number
  emails_opened: number
  emails_clicked: number
  isp_data: object | null
}

/** Inserts or updates the scores of a period, each with the score of the period before. */
export async function storeScores(
  tx: Tx,
  type: PeriodType,
  { start, end }: Period,
  scores: readonly Score[],
): Promise<void> {
  if (scores.length === 0) return
  const [from, to] = [start.toISOString(), end.toISOString()]
  const rows = scores.map((score) => ({ ...score, id: ulid() }))
  const stored = sql`json_to_recordset(${rows}::json) as new (id text, domain_id text,
    organization_id text, domain text, overall_score float8, deliverability_score float8,
    engagement_score float8, emails_sent bigint, emails_delivered bigint, emails_bounced bigint,
    emails_complained bigint, emails_opened bigint, emails_clicked bigint, isp_data jsonb)`
  await sql`
    insert into domain_reputation (id, domain_id, organization_id, domain, period_type, period_start,
      period_end, overall_score, deliverability_score, engagement_score, emails_sent,
      emails_delivered, emails_bounced, emails_complained, emails_opened, emails_clicked, isp_data,
      trend, is_newest)
    select new.id, new.domain_id, new.organization_id, new.domain, ${type}, ${from}, ${to},
      new.overall_score, new.deliverability_score, new.engagement_score, new.emails_sent,
      new.emails_delivered, new.emails_bounced, new.emails_complained, new.emails_opened,
      new.emails_clicked, new.isp_data,
      round((new.overall_score - before.overall_score)::numeric, 2)::float8,
      not exists (select from domain_reputation as later where later.domain_id = new.domain_id
        and later.period_type = ${type} and later.period_start > ${from}::timestamptz)
    from ${stored}
    left join lateral (
      select overall_score from domain_reputation as earlier
      where earlier.domain_id = new.domain_id and earlier.period_type = ${type}
        and earlier.period_start < ${from}::timestamptz
      order by period_start desc limit 1
    ) as before on true
    -- A domain may have been deleted since it was counted.
    where exists (select from domains where domains.id = new.domain_id)
    order by new.domain_id
    on conflict (domain_id, period_type, period_start) do update set
      organization_id = excluded.organization_id,
      overall_score = excluded.overall_score,
      deliverability_score = excluded.deliverability_score,
      engagement_score = excluded.engagement_score,
      emails_sent = excluded.emails_sent,
      emails_delivered = excluded.emails_delivered,
      emails_bounced = excluded.emails_bounced,
      emails_complained = excluded.emails_complained,
      emails_opened = excluded.emails_opened,
      emails_clicked = excluded.emails_clicked,
      isp_data = excluded.isp_data,
      trend = excluded.trend,
      is_newest = excluded.is_newest`.execute(tx)
  await sql`
    update domain_reputation set is_newest = false
    where is_newest and period_type = ${type} and period_start < ${from}::timestamptz
      and domain_id = any(${rows.map(({ domain_id }) => domain_id)}::text[])
      and exists (select from domain_reputation as later
        where later.domain_id = domain_reputation.domain_id and later.period_type = ${type}
          and later.period_start = ${from}::timestamptz)`.execute(tx)
}

export async function toldScores(tx: Tx, domains: string[]): Promise<Map<string, number>> {
  const rows = await tx
    .selectFrom('domain_ratings')
    .select(['domain_id', 'score'])
    .where('domain_id', 'in', domains)
    .forUpdate()
    .execute()
  return new Map(rows.map(({ domain_id, score }) => [domain_id, score]))
}

export const rememberTold = (tx: Tx, told: { domain_id: string; score: number }[], now: Date) =>
  sql`
    insert into domain_ratings (domain_id, score, told_at)
    select domain_id, score, ${now.toISOString()}
    from json_to_recordset(${told}::json) as told (domain_id text, score float8)
    order by domain_id
    on conflict (domain_id) do update set score = excluded.score, told_at = excluded.told_at`.execute(
    tx,
  )

export const deleteBefore = (db: Db, type: PeriodType, time: Date) =>
  db
    .deleteFrom('domain_reputation')
    .where('period_type', '=', type)
    .where('period_start', '<', time.toISOString())
    .where('is_newest', '=', false)
    .execute()
