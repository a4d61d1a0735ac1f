import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { type IspLimit, OTHERS } from './isp-limits.ts'

const columns = [
  'domain',
  'hourly_limit',
  'daily_limit',
  'burst_limit',
  'delay_ms',
  'max_concurrent',
] as const

export const limitsOf = (db: Db, domains?: string[]) =>
  db
    .selectFrom('isp_limits')
    .select(columns)
    .$if(domains !== undefined, (query) => query.where('domain', 'in', domains as string[]))
    .orderBy('domain')
    .execute()

/** The rows that can decide about a destination. */
export const namesFor = (domain: string): string[] => [domain, OTHERS]

/** Returns false if there is no stored limit. */
export async function removeLimit(tx: Tx, domain: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('isp_limits')
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export const storeLimit = (tx: Tx, domain: string, limit: IspLimit, now: Date) => {
  const values = { ...limit, updated_at: now.toISOString() }
  return tx
    .insertInto('isp_limits')
    .values({ domain, ...values })
    .onConflict((conflict) => conflict.column('domain').doUpdateSet(values))
    .execute()
}

/** Serializes changes of the same limits. */
export const lockLimits = (tx: Tx) =>
  sql`select pg_advisory_xact_lock(hashtextextended('isp_limits', 0))`.execute(tx)

export interface Sent {
  hour: number
  day: number
  minute: number
}

const hourOf = (now: Date) => sql`date_trunc('hour', ${now.toISOString()}::timestamptz, 'UTC')`
const dayOf = (now: Date) => sql`date_trunc('day', ${now.toISOString()}::timestamptz, 'UTC')`
const minuteOf = (now: Date) => sql`date_trunc('minute', ${now.toISOString()}::timestamptz, 'UTC')`

/** Messages of an organization to a destination in this minute, hour and day. */
export async function sent(db: Db, organization: string, domain: string, now: Date) {
  const { rows } = await sql<Sent>`
    select coalesce(sum(sent) filter (where hour = ${hourOf(now)}), 0)::bigint as hour,
      coalesce(sum(sent), 0)::bigint as day,
      coalesce(sum(sent_in_minute) filter (where minute = ${minuteOf(now)}), 0)::bigint as minute
    from send_counts
    where organization_id = ${organization} and recipient_domain = ${domain}
      and hour between ${dayOf(now)} and ${hourOf(now)}`.execute(db)
  return rows[0] as Sent
}

/** Counts a message; returns false for an unknown organization. */
export async function count(tx: Tx, organization: string, domain: string, now: Date) {
  const { rows } = await sql`
    insert into send_counts as kept (organization_id, recipient_domain, hour, sent, minute, sent_in_minute)
    select id, ${domain}, ${hourOf(now)}, 1, ${minuteOf(now)}, 1
    from organizations where id = ${organization}
    on conflict (organization_id, recipient_domain, hour) do update set
      sent = kept.sent + 1,
      sent_in_minute = case when kept.minute = excluded.minute then kept.sent_in_minute + 1 else 1 end,
      minute = excluded.minute
    returning hour`.execute(tx)
  return rows.length > 0
}

/** Returns whether this is the first refusal of the hour. */
export async function markThrottled(tx: Tx, organization: string, domain: string, now: Date) {
  const { rows } = await sql`
    insert into send_counts as kept (organization_id, recipient_domain, hour, minute, throttled)
    select id, ${domain}, ${hourOf(now)}, ${minuteOf(now)}, true
    from organizations where id = ${organization}
    on conflict (organization_id, recipient_domain, hour) do update set throttled = true
      where not kept.throttled
    returning hour`.execute(tx)
  return rows.length > 0
}

export interface Destination {
  recipient_domain: string
  hourly_sends: number
  daily_sends: number
  throttled: boolean
}

/** Destinations of an organization today, most messages first. */
export async function destinations(db: Db, organization: string, limit: number, now: Date) {
  const { rows } = await sql<Destination>`
    select recipient_domain,
      coalesce(sum(sent) filter (where hour = ${hourOf(now)}), 0)::bigint as hourly_sends,
      sum(sent)::bigint as daily_sends,
      coalesce(bool_or(throttled) filter (where hour = ${hourOf(now)}), false) as throttled
    from send_counts
    where organization_id = ${organization} and hour between ${dayOf(now)} and ${hourOf(now)}
    group by 1 order by daily_sends desc, recipient_domain limit ${limit}`.execute(db)
  return rows
}

export async function totals(db: Db, organization: string, now: Date) {
  const { rows } = await sql<{ hour: number; day: number }>`
    select coalesce(sum(sent) filter (where hour = ${hourOf(now)}), 0)::bigint as hour,
      coalesce(sum(sent), 0)::bigint as day
    from send_counts
    where organization_id = ${organization} and hour between ${dayOf(now)} and ${hourOf(now)}`.execute(
    db,
  )
  return rows[0] as { hour: number; day: number }
}

export const deleteCountsBefore = (db: Db, time: Date) =>
  db.deleteFrom('send_counts').where('hour', '<', time.toISOString()).execute()
