import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { MAIL_ACCOUNT, MAIL_SERVICES } from '../../../access/login-services.ts'
import type { Db } from '../../../database/database.ts'
import { HOUR_MS } from '../../../lib/time.ts'

const TOP = 25

/**
 * The number of accounts tried from an IP address, or of IP addresses that tried an account. A mail login
 * has both in one row; other logins have hashes of the counterparts.
 */
const counterpartsOf = (
  own: 'client_ip' | 'username',
  other: 'client_ip' | 'username',
  inWindow: RawBuilder<SqlBool>,
) => {
  const counterpart = sql.ref(`same.${other}`)
  return sql<number>`(
    select count(distinct name) from failed_auth_attempts as same
    cross join lateral unnest(case when ${counterpart} <> ''
      then array[counterpart_hash(${counterpart})] else same.counterparts end) as name
    where ${sql.ref(`same.${own}`)} = ${sql.ref(`failed_auth_attempts.${own}`)} and ${inWindow})`
}

/** Rows are counters, so the totals are sums of `attempt_count`. */
export async function summarize(db: Db, hours: number, now: Date) {
  const at = now.toISOString()
  const since = new Date(now.getTime() - hours * HOUR_MS).toISOString()
  const inWindow = sql<SqlBool>`last_attempt_at > ${since}::timestamptz`
  // An API login has two rows, by IP address and by account. A mail login has one row for the pair.
  const countedOnce = sql<SqlBool>`(client_ip <> '' or service = any(${[...MAIL_SERVICES]}::text[]))`
  const attempts = sql<number>`coalesce(sum(attempt_count), 0)::int`

  const totals = db
    .selectFrom('failed_auth_attempts')
    .select([
      sql<number>`coalesce(sum(attempt_count) filter (where ${countedOnce}), 0)::int`.as(
        'total_attempts',
      ),
      sql<number>`count(distinct client_ip) filter (where client_ip <> '')`.as('distinct_ips'),
      sql<number>`count(distinct username) filter (where username <> '')`.as('distinct_accounts'),
    ])
    .where(inWindow)
    .executeTakeFirstOrThrow()

  const topIps = db
    .selectFrom('failed_auth_attempts')
    .select([
      'client_ip',
      attempts.as('attempt_count'),
      counterpartsOf('client_ip', 'username', inWindow).as('distinct_accounts'),
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
      counterpartsOf('username', 'client_ip', inWindow).as('distinct_ips'),
      sql<string>`max(last_attempt_at)`.as('last_attempt_at'),
    ])
    .where(inWindow)
    .where('username', '<>', '')
    // Its failures are in the rows by IP address too.
    .where('service', '<>', MAIL_ACCOUNT)
    .groupBy('username')
    .orderBy('attempt_count', 'desc')
    .orderBy('username')
    .limit(TOP)
    .execute()

  const byService = db
    .selectFrom('failed_auth_attempts')
    .select(['service', attempts.as('attempt_count')])
    .where(inWindow)
    .where(countedOnce)
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
      from failed_auth_attempts where ${inWindow} and ${countedOnce} group by 1
    )
    select hours.hour, coalesce(sum(counted.count), 0)::int as count
    from hours left join counted on greatest(counted.hour, hours.first) = hours.hour
    group by hours.hour order by hours.hour`.execute(db)

  const [total, top_ips, top_accounts, by_service, { rows }] = await Promise.all([
    totals,
    topIps,
    topAccounts,
    byService,
    series,
  ])
  return { window_hours: hours, ...total, top_ips, top_accounts, by_service, series: rows }
}
