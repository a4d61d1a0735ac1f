import { type SqlBool, sql } from 'kysely'
import { MAIL_SERVICES } from '../../../access/login-services.ts'
import type { Db } from '../../../database/database.ts'

const TOP = 25

/** Rows are counters, so everything here adds them up. */
export async function summarize(db: Db, hours: number, now: Date) {
  const at = now.toISOString()
  const since = new Date(now.getTime() - hours * 3_600_000).toISOString()
  const inWindow = sql<SqlBool>`last_attempt_at > ${since}::timestamptz`
  // A login to the API is counted twice, by address and by account; mail logins once, as a pair.
  const once = sql<SqlBool>`(client_ip <> '' or service = any(${[...MAIL_SERVICES]}::text[]))`
  const attempts = sql<number>`coalesce(sum(attempt_count), 0)::int`

  const totals = db
    .selectFrom('failed_auth_attempts')
    .select([
      sql<number>`coalesce(sum(attempt_count) filter (where ${once}), 0)::int`.as('total_attempts'),
      sql<number>`count(distinct client_ip) filter (where client_ip <> '')`.as('distinct_ips'),
      sql<number>`count(distinct username) filter (where username <> '')`.as('distinct_accounts'),
    ])
    .where(inWindow)
    .executeTakeFirstOrThrow()

  const topAddresses = db
    .selectFrom('failed_auth_attempts')
    .select([
      'client_ip',
      attempts.as('attempt_count'),
      sql<number>`count(distinct username) filter (where username <> '')`.as('distinct_accounts'),
      sql<string[]>`array_agg(distinct service order by service)`.as('services'),
      sql<boolean>`coalesce(bool_or(blocked_until > ${at}::timestamptz), false)`.as('blocked'),
      sql<string>`max(last_attempt_at)`.as('last_attempt_at'),
    ])
    .where(inWindow)
    .where('client_ip', '<>', '')
    .groupBy('client_ip')
    .orderBy('attempt_count', 'desc')
    .orderBy('client_ip')
    .limit(TOP)
    .execute()

  const topAccounts = db
    .selectFrom('failed_auth_attempts')
    .select([
      sql<string>`username`.as('username'),
      attempts.as('attempt_count'),
      sql<number>`count(distinct client_ip) filter (where client_ip <> '')`.as('distinct_ips'),
      sql<string>`max(last_attempt_at)`.as('last_attempt_at'),
    ])
    .where(inWindow)
    .where('username', '<>', '')
    .groupBy('username')
    .orderBy('attempt_count', 'desc')
    .orderBy('username')
    .limit(TOP)
    .execute()

  const byService = db
    .selectFrom('failed_auth_attempts')
    .select(['service', attempts.as('attempt_count')])
    .where(inWindow)
    .where(once)
    .groupBy('service')
    .orderBy('attempt_count', 'desc')
    .orderBy('service')
    .execute()

  const series = sql<{ hour: string; count: number }>`
    with hours as (
      select hour, min(hour) over () as first from generate_series(
        date_trunc('hour', ${at}::timestamptz, 'UTC') - make_interval(hours => ${hours - 1}),
        date_trunc('hour', ${at}::timestamptz, 'UTC'), interval '1 hour') as hour
    ), counted as (
      select date_trunc('hour', last_attempt_at, 'UTC') as hour, sum(attempt_count) as count
      from failed_auth_attempts where ${inWindow} and ${once} group by 1
    )
    select hours.hour, coalesce(sum(counted.count), 0)::int as count
    from hours left join counted on greatest(counted.hour, hours.first) = hours.hour
    group by hours.hour order by hours.hour`.execute(db)

  const [total, top_ips, top_accounts, by_service, { rows }] = await Promise.all([
    totals,
    topAddresses,
    topAccounts,
    byService,
    series,
  ])
  return { window_hours: hours, ...total, top_ips, top_accounts, by_service, series: rows }
}
