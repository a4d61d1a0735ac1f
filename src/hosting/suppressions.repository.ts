import { sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'
import { ulid } from '../lib/ulid.ts'

export const SUPPRESSION_TYPES = ['BOUNCE', 'COMPLAINT', 'UNSUBSCRIBE', 'MANUAL'] as const
export type SuppressionType = (typeof SUPPRESSION_TYPES)[number]

const KEPT_DAYS = 30
// A bounced address may work again and a complaint may be a mistake; the other types are decisions.
const EXPIRES: readonly SuppressionType[] = ['BOUNCE', 'COMPLAINT']

export interface NewSuppression {
  email: string
  organization_id: string
  reason: string | null
  source: string | null
  bounce_type?: 'HARD' | 'SOFT' | null
}

/** Suppresses e-mail addresses. A second call restarts the expiry and adds to the bounce count. */
export async function suppress(
  tx: Tx,
  type: SuppressionType,
  suppressions: NewSuppression[],
  now: Date,
): Promise<void> {
  // Sorted, so that two concurrent calls lock rows in one order and cannot deadlock.
  const rows = [...suppressions]
    .map((one) => ({ ...one, id: ulid(), email: one.email.toLowerCase() }))
    .sort((a, b) => (a.email < b.email ? -1 : 1))
  const days = EXPIRES.includes(type) ? KEPT_DAYS : null
  await sql`
    insert into suppressions (id, email, organization_id, suppression_type, reason, source,
      bounce_type, bounce_count, expires_at, created_at, updated_at)
    select min(id), email, organization_id, ${type}, min(reason), min(source), min(bounce_type),
      count(*), ${now.toISOString()}::timestamptz + make_interval(days => ${days}::int),
      ${now.toISOString()}, ${now.toISOString()}
    from json_to_recordset(${rows}::json) as new (id text, email text, organization_id text,
      reason text, source text, bounce_type text)
    where exists (select from organizations where organizations.id = new.organization_id)
    group by email, organization_id
    order by email, organization_id
    on conflict (email, organization_id, suppression_type) do update set
      reason = excluded.reason,
      source = excluded.source,
      bounce_type = coalesce(excluded.bounce_type, suppressions.bounce_type),
      bounce_count = suppressions.bounce_count + excluded.bounce_count,
      active = true,
      expires_at = excluded.expires_at,
      updated_at = excluded.updated_at`.execute(tx)
}

export const isSuppressed = async (db: Db, email: string, organizationId: string, now: Date) => {
  const row = await db
    .selectFrom('suppressions')
    .select('id')
    .where('email', '=', email.toLowerCase())
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now.toISOString())]))
    .executeTakeFirst()
  return row !== undefined
}

/** The e-mail addresses of the list that are suppressed, in lower case. */
export const suppressedAmong = async (
  db: Db,
  emails: readonly string[],
  organizationId: string,
  now: Date,
): Promise<Set<string>> => {
  const { rows } = await sql<{ email: string }>`
    select distinct email from suppressions
    where email = any(${emails.map((email) => email.toLowerCase())}::text[])
      and organization_id = ${organizationId} and active
      and (expires_at is null or expires_at > ${now.toISOString()}::timestamptz)`.execute(db)
  return new Set(rows.map(({ email }) => email))
}

/** Looks at suppressions of this type only. */
export const isSuppressedBy = async (
  db: Db,
  type: SuppressionType,
  email: string,
  organizationId: string,
) => {
  const row = await db
    .selectFrom('suppressions')
    .select('id')
    .where('email', '=', email.toLowerCase())
    .where('organization_id', '=', organizationId)
    .where('suppression_type', '=', type)
    .where('active', '=', true)
    .executeTakeFirst()
  return row !== undefined
}

/** Deactivates the suppressions of an e-mail address and returns how many were active. */
export async function lift(
  tx: Tx,
  email: string,
  organizationId: string,
  now: Date,
  type?: SuppressionType,
): Promise<number> {
  let query = tx
    .updateTable('suppressions')
    .set({ active: false, updated_at: now.toISOString() })
    .where('email', '=', email.toLowerCase())
    .where('organization_id', '=', organizationId)
    .where('active', '=', true)
  if (type !== undefined) query = query.where('suppression_type', '=', type)
  const { numUpdatedRows } = await query.executeTakeFirst()
  return Number(numUpdatedRows)
}
