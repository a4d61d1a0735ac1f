import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { Tables } from '../database/tables.ts'

type Owned = {
  [Name in keyof Tables]: 'organization_id' extends keyof Tables[Name] ? Name : never
}[keyof Tables]

/** The table of the row behind a path parameter. Ids are unique over all tables. */
const PLACES: Record<string, readonly (readonly [table: Owned, column: string])[]> = {
  account_id: [['email_accounts', 'id']],
  alias_id: [['aliases', 'id']],
  credential_id: [['smtp_credentials', 'id']],
  dead_letter_id: [['webhook_dead_letters', 'id']],
  domain: [['domains', 'domain']],
  domain_id: [['domains', 'id']],
  email: [['email_accounts', 'email']],
  endpoint_id: [['webhook_endpoints', 'id']],
  feedback_id: [['feedback_loops', 'id']],
  hold_id: [['legal_holds', 'id']],
  mailbox: [['email_accounts', 'email']],
  mailbox_id: [
    ['email_accounts', 'id'],
    ['shared_mailboxes', 'id'],
  ],
  policy_id: [
    ['geo_policies', 'id'],
    ['dlp_policies', 'id'],
  ],
  quarantine_id: [['quarantine', 'id']],
  rule_id: [
    ['ip_access_rules', 'id'],
    ['transport_rules', 'id'],
    ['alert_rules', 'id'],
  ],
  schedule_id: [['analytics_schedules', 'schedule_id']],
  user_email: [['email_accounts', 'email']],
  violation_id: [['dlp_violations', 'id']],
}

/** Tables whose ids are numbers. */
const NUMBERED: ReadonlySet<Owned> = new Set([
  'dlp_policies',
  'dlp_violations',
  'legal_holds',
  'webhook_dead_letters',
])
const NUMBER = /^\d{1,15}$/

/** The organization that owns the target of a request, before the request changes it. */
export async function ownerOfTarget(
  db: Db,
  params: Readonly<Record<string, string>>,
): Promise<string | null> {
  const lookups: RawBuilder<unknown>[] = []
  for (const [name, places] of Object.entries(PLACES)) {
    const value = params[name]
    if (typeof value !== 'string' || value.includes('\0')) continue
    for (const [table, column] of places) {
      if (NUMBERED.has(table) && !NUMBER.test(value)) continue
      const id = NUMBERED.has(table) ? sql`${Number(value)}::bigint` : sql`${value}`
      lookups.push(sql`(select organization_id from ${sql.table(table)}
        where ${sql.ref(column)} = ${id})`)
    }
  }
  if (lookups.length === 0) return null
  const { rows } = await sql<{ organization_id: string | null }>`
    ${sql.join(lookups, sql` union all `)} limit 1`.execute(db)
  return rows[0]?.organization_id ?? null
}
