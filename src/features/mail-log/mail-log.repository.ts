import { type SqlBool, sql } from 'kysely'
import { bulkRows } from '../../database/bulk.ts'
import { violatedConstraint } from '../../database/conflicts.ts'
import type { Db, Tx } from '../../database/database.ts'
import type { Attempt, Replaced } from './attempts.ts'

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
  spam_score: 'double precision',
} as const

const columns = sql.join(Object.keys(COLUMNS).map((name) => sql.ref(name)))

/**
 * Inserts the attempts that are not stored yet and returns them. Usually all are new, and a plain insert
 * is a quarter faster than one with `on conflict`, so the latter runs only after a conflict.
 */
export async function insertNew(tx: Tx, attempts: Attempt[]): Promise<Attempt[]> {
  await sql`savepoint attempts`.execute(tx)
  try {
    await sql`
      insert into mail_log (${columns})
      select * from ${bulkRows(COLUMNS, attempts)} as attempts`.execute(tx)
    return attempts
  } catch (error) {
    if (!/^mail_log_\w+_pkey$/.test(violatedConstraint(error) ?? '')) throw error
    await sql`rollback to savepoint attempts`.execute(tx)
  }
  const stored = await sql<{ id: string }>`
    insert into mail_log (${columns})
    select * from ${bulkRows(COLUMNS, attempts)} as attempts
    on conflict ("timestamp", id) do nothing
    returning id`.execute(tx)
  const fresh = new Set(stored.rows.map(({ id }) => id))
  return attempts.filter(({ id }) => fresh.has(id))
}

/** Marks attempts that a later one followed, and takes them out of the figures. */
export async function supersede(
  tx: Tx,
  earlier: (Replaced & { recipient: string })[],
): Promise<void> {
  if (earlier.length === 0) return
  const ids = earlier.map(({ id }) => id)
  const recipients = earlier.map(({ recipient }) => recipient)
  const since = earlier.map(({ at }) => at ?? '-infinity').reduce(earliest)
  await sql`select supersede_mail(${ids}::text[], ${recipients}::text[], ${since}::timestamptz)`.execute(
    tx,
  )
}

/** ISO 8601 times in UTC are in the order of their text, and `-` comes before the digits. */
const earliest = (one: string, other: string) => (one < other ? one : other)

/** The owners of these domains; a pending claim owns nothing. */
export async function organizationsOf(db: Db, domains: string[]): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('domains')
    .select(['domain', 'organization_id'])
    .where(sql<SqlBool>`domain = any(${domains}::text[])`)
    .where('ownership_verified_at', 'is not', null)
    .execute()
  return new Map(rows.map(({ domain, organization_id }) => [domain, organization_id]))
}

export interface Login {
  name: string
  organization_id: string
  domain: string
  /** Null for the login of a mailbox. */
  credential_id: string | null
}

export async function loginsNamed(db: Db, names: string[]): Promise<Map<string, Login>> {
  if (names.length === 0) return new Map()
  const { rows } = await sql<Login>`
    select a.address as name, d.organization_id, d.domain, c.id as credential_id
    from addresses a
    left join email_accounts m on a.kind = 'mailbox' and m.id = a.owner_id
    left join smtp_credentials c on a.kind = 'smtp_credential' and c.id = a.owner_id
    join domains d on d.id = coalesce(m.domain_id, c.domain_id)
    where a.address = any(${names}::text[]) and a.claim_id = ''`.execute(db)
  return new Map(rows.map((login) => [login.name, login]))
}

/** Updates each credential at most once a minute, to avoid constant writes for a busy one. */
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

/** Returns the recipients with at least `limit` soft bounces since then. */
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
    ) as candidate
    where (
      select count(*) from mail_log
      where mail_log.recipient = candidate.recipient
        and mail_log."timestamp" >= ${since.toISOString()}::timestamptz
        and mail_log.organization_id = candidate.organization_id
        and mail_log.bounce_type = 'SOFT'
    ) >= ${limit}`.execute(tx)
  return rows
}

interface Failing {
  id: string
  organization_id: string
  username: string
  failed: number
  total: number
}

/** Locks and returns the active credentials whose failed messages since then exceed the limits. */
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
      where credential_id = smtp_credentials.id and not superseded
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
