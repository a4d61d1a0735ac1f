import { type SqlBool, sql } from 'kysely'
import { bulkRows } from '../../database/bulk.ts'
import { violatedConstraint } from '../../database/conflicts.ts'
import type { Db, Tx } from '../../database/database.ts'
import type { Attempt } from './attempts.ts'

const COLUMNS = {
  id: 'text',
  timestamp: 'timestamptz',
  sender: 'text',
  recipient: 'text',
  original_recipient: 'text',
  organization_id: 'text',
  subject: 'text',
  status: 'text',
  message_id: 'text',
  queue_id: 'text',
  relay: 'text',
  size: 'integer',
  delays: 'text',
  dsn: 'text',
  bounce_reason: 'text',
  bounce_type: 'text',
  sasl_username: 'text',
  credential_id: 'text',
} as const

const columns = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)))

/**
 * Stores what is not stored yet, and answers with that. Usually all of it is new: looking for each row
 * before it is stored takes a quarter longer, and is done only for a part of a log that was read before.
 */
export async function insertNew(tx: Tx, attempts: Attempt[]): Promise<Attempt[]> {
  await sql`savepoint attempts`.execute(tx)
  try {
    await sql`
      insert into mail_log (${columns})
      select * from ${bulkRows(COLUMNS, attempts)} as attempts`.execute(tx)
    return attempts
  } catch (error) {
    if (violatedConstraint(error) !== 'mail_log_pkey') throw error
    await sql`rollback to savepoint attempts`.execute(tx)
  }
  const stored = await sql<{ id: string }>`
    insert into mail_log (${columns})
    select * from ${bulkRows(COLUMNS, attempts)} as attempts
    on conflict (id) do nothing
    returning id`.execute(tx)
  const fresh = new Set(stored.rows.map(({ id }) => id))
  return attempts.filter(({ id }) => fresh.has(id))
}

export async function organizationsOf(db: Db, domains: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('domains')
    .select(['domain', 'organization_id'])
    .where(sql<SqlBool>`domain = any(${domains}::text[])`)
    .execute()
  return new Map(rows.map(({ domain, organization_id }) => [domain, organization_id]))
}

export async function credentialsNamed(db: Db, names: string[]): Promise<Map<string, string>> {
  if (names.length === 0) return new Map()
  const rows = await db
    .selectFrom('smtp_credentials')
    .select(['id', 'username'])
    .where(sql<SqlBool>`username = any(${names}::text[])`)
    .execute()
  return new Map(rows.map(({ id, username }) => [username, id]))
}

/** At most once a minute for each credential: a busy one would be rewritten all the time. */
export async function markUsed(tx: Tx, uses: { id: string; at: string }[]): Promise<void> {
  if (uses.length === 0) return
  await sql`
    update smtp_credentials set last_used_at = due.at
    from (
      select id, use.at from json_to_recordset(${uses}::json) as use (id text, at timestamptz)
      join smtp_credentials using (id)
      where last_used_at is null or last_used_at <= use.at - interval '60 seconds'
      order by id for update of smtp_credentials
    ) as due
    where smtp_credentials.id = due.id`.execute(tx)
}

/** Of these addresses, those that bounced softly too often to be tried again. */
export async function bouncingTooOften(
  tx: Tx,
  bounced: { recipient: string; organization_id: string }[],
  since: Date,
  limit: number,
): Promise<{ recipient: string; organization_id: string }[]> {
  if (bounced.length === 0) return []
  const { rows } = await sql<{ recipient: string; organization_id: string }>`
    select recipient, organization_id
    from (
      select distinct recipient, organization_id
      from json_to_recordset(${bounced}::json) as new (recipient text, organization_id text)
    ) as asked
    where (
      select count(*) from mail_log
      where mail_log.recipient = asked.recipient
        and mail_log."timestamp" >= ${since.toISOString()}::timestamptz
        and mail_log.organization_id = asked.organization_id
        and mail_log.bounce_type = 'SOFT'
    ) >= ${limit}`.execute(tx)
  return rows
}

export interface Failing {
  id: string
  organization_id: string
  username: string
  failed: number
  total: number
}

/** Active credentials among these of whose messages since then so many failed. */
export async function lockFailing(
  tx: Tx,
  ids: string[],
  since: Date,
  limits: { messages: number; share: number },
): Promise<Failing[]> {
  const { rows } = await sql<Failing>`
    select smtp_credentials.id, organization_id, username, failed, total
    from smtp_credentials
    cross join lateral (
      select count(*) as total,
        count(*) filter (where status in ('bounced', 'rejected')) as failed
      from mail_log
      where credential_id = smtp_credentials.id
        and "timestamp" >= ${since.toISOString()}::timestamptz
    ) as sums
    where smtp_credentials.id = any(${ids}::text[]) and active
      and total >= ${limits.messages} and failed >= total * ${limits.share}::float8
    order by smtp_credentials.id
    for update of smtp_credentials`.execute(tx)
  return rows
}

export const deactivate = (tx: Tx, ids: string[], now: Date) =>
  tx
    .updateTable('smtp_credentials')
    .set({ active: false, updated_at: now.toISOString() })
    .where(sql<SqlBool>`id = any(${ids}::text[])`)
    .execute()
