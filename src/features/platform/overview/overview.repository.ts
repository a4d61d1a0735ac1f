import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

const weekBefore = (now: Date) => new Date(now.getTime() - 7 * 24 * 3600 * 1000).toISOString()
const dayBefore = (now: Date) => new Date(now.getTime() - 24 * 3600 * 1000).toISOString()

export const organizations = (db: Db, now: Date) =>
  db
    .selectFrom('organizations')
    .select([
      sql<number>`count(*)`.as('total'),
      sql<number>`count(*) filter (where active)`.as('active'),
      sql<number>`count(*) filter (where not active)`.as('suspended'),
      sql<number>`count(*) filter (where created_at > ${weekBefore(now)})`.as('delta_7d'),
    ])
    .executeTakeFirstOrThrow()

const grown = (db: Db, table: 'domains' | 'email_accounts', now: Date) =>
  db
    .selectFrom(table)
    .select([
      sql<number>`count(*)`.as('total'),
      sql<number>`count(*) filter (where created_at > ${weekBefore(now)})`.as('delta_7d'),
    ])
    .executeTakeFirstOrThrow()

export const domains = (db: Db, now: Date) => grown(db, 'domains', now)
export const mailboxes = (db: Db, now: Date) => grown(db, 'email_accounts', now)

export async function storage(db: Db) {
  const { used_bytes } = await db
    .selectFrom('email_accounts')
    .select(sql<number>`coalesce(sum(storage_used), 0)::bigint`.as('used_bytes'))
    .executeTakeFirstOrThrow()
  const { quota_bytes } = await db
    .selectFrom('domains')
    .select(sql<number>`coalesce(sum(max_quota), 0)::bigint`.as('quota_bytes'))
    .executeTakeFirstOrThrow()
  const top_consumers = await db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .select(['domains.domain', sql<number>`sum(storage_used)::bigint`.as('used_bytes')])
    .groupBy('domains.domain')
    .orderBy('used_bytes', 'desc')
    .orderBy('domains.domain')
    .limit(5)
    .execute()
  const used_percent = quota_bytes === 0 ? 0 : Math.round((used_bytes / quota_bytes) * 1e4) / 100
  return { used_bytes, quota_bytes, used_percent, top_consumers }
}

export async function security(db: Db, now: Date) {
  const since = dayBefore(now)
  // Attempts, not rows: a row is a counter.
  const { rows: failed_auth_series } = await sql<{ hour: string; count: number }>`
    select hour, coalesce(sum(attempt_count), 0)::int as count
    from generate_series(
      date_trunc('hour', ${now.toISOString()}::timestamptz) - interval '23 hours',
      date_trunc('hour', ${now.toISOString()}::timestamptz), interval '1 hour') as hour
    left join failed_auth_attempts
      on last_attempt_at >= hour and last_attempt_at < hour + interval '1 hour' and username is null
    group by hour order by hour`.execute(db)
  const { failed_auth_24h } = await db
    .selectFrom('failed_auth_attempts')
    .select(sql<number>`coalesce(sum(attempt_count), 0)::int`.as('failed_auth_24h'))
    .where('last_attempt_at', '>', since)
    // Logins are counted by address and by account; either would do, both would be double.
    .where('client_ip', '<>', '')
    .executeTakeFirstOrThrow()
  const { denied_actions_24h } = await db
    .selectFrom('operator_audit')
    .select(sql<number>`count(*)`.as('denied_actions_24h'))
    .where('created_at', '>', since)
    .where('status_code', 'in', [401, 403])
    .executeTakeFirstOrThrow()
  return { failed_auth_24h, denied_actions_24h, failed_auth_series }
}

/** Of those that can be read; what has ended counts as ending. */
export const certificates = (db: Db, now: Date) => {
  const within = (days: number) =>
    sql<number>`count(*) filter (where valid_until <=
      ${now.toISOString()}::timestamptz + make_interval(days => ${days}))`
  return db
    .selectFrom('certificates')
    .select([
      sql<number>`count(*)`.as('total'),
      within(30).as('expiring_30d'),
      within(7).as('expiring_7d'),
      sql<number | null>`floor(extract(epoch from
        min(valid_until) - ${now.toISOString()}::timestamptz) / 86400)::int`.as(
        'soonest_expiry_days',
      ),
    ])
    .executeTakeFirstOrThrow()
}

export const webhooks = (db: Db) =>
  db
    .selectFrom('webhook_dead_letters')
    .select(sql<number>`count(*)`.as('dead_letters'))
    .where('status', '<>', 'resolved')
    .executeTakeFirstOrThrow()

export const recentActions = (db: Db) =>
  db
    .selectFrom('operator_audit')
    .select(['id', 'operator_email', 'action', 'target_type', 'target_id', 'result', 'created_at'])
    .orderBy('id', 'desc')
    .limit(10)
    .execute()
