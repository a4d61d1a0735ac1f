import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import { type Owner, rolledUp } from './rolled-up.ts'
import type { Day, Window } from './window.ts'

export const findDomain = (db: Db, scope: Scope, domain: string) =>
  db
    .selectFrom('domains')
    .select([
      'organization_id',
      'domain',
      'max_quota',
      'max_users',
      'dkim_enabled',
      'dkim_selector',
      'total_storage_used',
      'total_emails',
      'total_attachments',
      sql<number>`total_email_accounts - inactive_email_accounts - suspended_email_accounts`.as(
        'active_email_accounts',
      ),
      sql<boolean>`exists (select from dkim_keys where domain_id = domains.id and active)`.as(
        'has_dkim_key',
      ),
    ])
    .where('domain', '=', domain)
    .where(inScope('domains', scope))
    .executeTakeFirst()

export type AnalyzedDomain = NonNullable<Awaited<ReturnType<typeof findDomain>>>

export interface Sums {
  sent: number
  delivered: number
  bounced: number
  deferred: number
  rejected: number
  /** Attempts to deliver sent messages, with retries. */
  attempts: number
  spam_scores: number
  spam_score_sum: number
}

export async function sums(db: Db, owner: Owner, window: Window): Promise<Sums> {
  const { rows } = await sql<Sums>`
    select ${total('sent')}, ${total('delivered')}, ${total('bounced')}, ${total('deferred')},
      ${total('rejected')}, ${total('attempts')}, ${total('spam_scores')},
      coalesce(sum(spam_score_sum), 0) as spam_score_sum
    from ${rolledUp('mail_traffic', owner, window)}`.execute(db)
  return rows[0] as Sums
}

const total = (column: string) =>
  sql`coalesce(sum(${sql.ref(column)}), 0)::bigint as ${sql.ref(column)}`

export interface Volume {
  date: string
  outbound: number
  inbound: number
}

/** Per day of the window's time zone; days without mail are absent. */
export async function volume(db: Db, owner: Owner, window: Window, days: Day[]): Promise<Volume[]> {
  const starts = days.map(({ start }) => start.toISOString())
  const { rows } = await sql<{ nth: number; outbound: number; inbound: number }>`
    select width_bucket(bucket, ${starts}::timestamptz[]) as nth,
      sum(sent)::bigint as outbound, sum(inbound)::bigint as inbound
    from ${rolledUp('mail_traffic', owner, window)}
    group by nth having sum(sent) > 0 or sum(inbound) > 0 order by nth`.execute(db)
  return rows.map(({ nth, ...counts }) => ({ date: days[nth - 1]?.date as string, ...counts }))
}

/** Throws when the figures cannot be read. */
export const probe = (db: Db) =>
  db.selectFrom('mail_traffic_hours').select('bucket').limit(1).execute()

export const fold = async (db: Db, limit: number): Promise<number> => {
  const { rows } = await sql<{ moved: number }>`
    select greatest(fold_mail_traffic(${limit}::int), fold_engagement(${limit}::int)) as moved`.execute(
    db,
  )
  return rows[0]?.moved ?? 0
}

/** Older quarters of an hour are deleted: windows that far back use days. */
export async function deleteQuartersBefore(db: Db, time: Date): Promise<void> {
  const at = time.toISOString()
  await db.deleteFrom('mail_traffic_quarters').where('bucket', '<', at).execute()
  await db.deleteFrom('engagement_quarters').where('bucket', '<', at).execute()
  await db
    .deleteFrom('engagement_recipients')
    .where(sql<SqlBool>`day < ${at.slice(0, 10)}::date`)
    .execute()
}
