import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

const TOP_DOMAINS = 100

interface Span {
  from: Date
  to: Date
}

const within = ({ from, to }: Span) => sql`
  bucket >= ${from.toISOString()}::timestamptz and bucket < ${to.toISOString()}::timestamptz`

/** Hourly counters of one organization or of all, plus the pending rows that are not folded in yet. */
const hourly = (organization: string | undefined, span: Span) => sql`(
  select bucket, sent, delivered, bounced, deferred, inbound_delivered from mail_traffic_hours
  where organization_id = ${organization ?? ''} and ${within(span)}
  union all
  select bucket, sent, delivered, bounced, deferred, inbound_delivered from mail_traffic_pending
  where ${ofOrganization(organization)} and ${within(span)}
) as counted`

const ofOrganization = (organization: string | undefined): RawBuilder<unknown> =>
  organization === undefined ? sql`true` : sql`organization_id = ${organization}`

const nthOf = (column: string, starts: Date[]) =>
  sql`width_bucket(${sql.ref(column)},
    ${starts.map((start) => start.toISOString())}::timestamptz[])`

interface Traffic {
  nth: number
  sent: number
  delivered: number
  bounced: number
  deferred: number
  received: number
}

/** Returns only buckets with mail. */
export async function series(
  db: Db,
  organization: string | undefined,
  starts: Date[],
  to: Date,
): Promise<Traffic[]> {
  const span = { from: starts[0] as Date, to }
  const { rows } = await sql<Traffic>`
    select ${nthOf('bucket', starts)} as nth, sum(sent)::bigint as sent,
      sum(delivered)::bigint as delivered, sum(bounced)::bigint as bounced,
      sum(deferred)::bigint as deferred, sum(inbound_delivered)::bigint as received
    from ${hourly(organization, span)}
    group by nth`.execute(db)
  return rows
}

interface DomainTraffic {
  organization_id: string
  domain: string
  sent: number
  delivered: number
  bounced: number
  deferred: number
  complained: number
}

/** Domains that sent the most. `whole` is the part in whole days; the part before uses quarter hours. */
export async function topDomains(
  db: Db,
  organization: string | undefined,
  span: Span,
  whole: Span,
): Promise<DomainTraffic[]> {
  const before = { from: span.from, to: whole.from }
  const columns = sql`organization_id, domain, sent, delivered, bounced, deferred`
  const complaints = (table: string, during: Span) => sql`
    select complained from ${sql.table(table)} as engagement
    where engagement.organization_id = top.organization_id and engagement.domain = top.domain
      and ${within(during)}`
  const { rows } = await sql<DomainTraffic>`
    select top.*, (
      select coalesce(sum(complained), 0)::bigint from (
        ${complaints('engagement_days', whole)}
        union all ${complaints('engagement_quarters', before)}
        union all select 1 from engagement_pending as engagement
        where engagement.organization_id = top.organization_id and engagement.domain = top.domain
          and event_type = 'complained' and ${within(span)}
      ) as complaints) as complained
    from (
      select organization_id, domain, sum(sent)::bigint as sent, sum(delivered)::bigint as delivered,
        sum(bounced)::bigint as bounced, sum(deferred)::bigint as deferred
      from (
        select ${columns} from mail_traffic_days
        where ${ofOrganization(organization)} and ${within(whole)}
        union all select ${columns} from mail_traffic_quarters
        where ${ofOrganization(organization)} and ${within(before)}
        union all select ${columns} from mail_traffic_pending
        where ${ofOrganization(organization)} and ${within(span)}
      ) as counted
      group by 1, 2 having sum(sent) > 0 order by 3 desc, 2, 1 limit ${TOP_DOMAINS}
    ) as top
    order by sent desc, domain, organization_id`.execute(db)
  return rows
}

interface Cell {
  weekday: number
  hour: number
  count: number
}

export async function heatmap(db: Db, organization: string | undefined, span: Span) {
  const { rows } = await sql<Cell>`
    select extract(isodow from bucket at time zone 'UTC')::int - 1 as weekday,
      extract(hour from bucket at time zone 'UTC')::int as hour, sum(sent)::bigint as count
    from ${hourly(organization, span)}
    group by 1, 2`.execute(db)
  return rows
}

export interface Growth {
  what: 'organizations' | 'domains' | 'mailboxes'
  nth: number
  count: number
}

/** Counts the resources created in each bucket. Older ones are left out. */
export async function growth(db: Db, starts: Date[]): Promise<Growth[]> {
  const created = (what: Growth['what'], table: string) => sql`
    select ${what} as what, ${nthOf('created_at', starts)} as nth, count(*) as count
    from ${sql.table(table)}
    where created_at >= ${(starts[0] as Date).toISOString()}::timestamptz group by nth`
  const { rows } = await sql<Growth>`
    ${created('organizations', 'organizations')}
    union all ${created('domains', 'domains')}
    union all ${created('mailboxes', 'email_accounts')}`.execute(db)
  return rows
}

/** Reads the counters that triggers maintain per organization. */
export const totals = (db: Db) =>
  db
    .selectFrom('organizations')
    .select([
      sql<number>`count(*)`.as('organizations'),
      sql<number>`coalesce(sum(domain_count), 0)::bigint`.as('domains'),
      sql<number>`coalesce(sum(email_account_count), 0)::bigint`.as('mailboxes'),
      sql<number>`coalesce(sum(total_storage_used), 0)::bigint`.as('storage_bytes'),
    ])
    .executeTakeFirstOrThrow()

export const organizationExists = async (db: Db, id: string): Promise<boolean> =>
  (await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()) !==
  undefined
