import { sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'

/** See docs/compliance.md for the states of an erasure. */
export async function isAnyBeingErased(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const { rows } = await sql`
    select id from data_erasures
    where account_id = any(${ids}::text[]) and status in ('pending', 'soft_deleted')
    limit 1`.execute(tx)
  return rows.length > 0
}

/** Placing a hold locks the row too: the second of two transactions sees the result of the first. */
export const lockOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forNoKeyUpdate().execute()

/** Locks the row of the organization, as placing a hold does: the two cannot run at the same time. */
export async function isAnyHeld(
  tx: Tx,
  organizationId: string,
  emails: readonly string[],
  now: Date,
): Promise<boolean> {
  await lockOrganization(tx, organizationId)
  const { rows } = await sql`
    select email from unnest(${emails}::text[]) as email
    where is_held(${organizationId}, email, ${now.toISOString()}::timestamptz)
    limit 1`.execute(tx)
  return rows.length > 0
}

/** Checks for a hold on any address of the domain, even without a mailbox. Locks like `isAnyHeld`. */
export async function isDomainHeld(
  tx: Tx,
  { organization_id, domain }: { organization_id: string; domain: string },
  now: Date,
): Promise<boolean> {
  await lockOrganization(tx, organization_id)
  const { rows } = await sql`
    select id from legal_holds
    where organization_id = ${organization_id} and active
      and (end_date is null or end_date > ${now.toISOString()}::timestamptz)
      and (custodians = '{}' or exists (
        select from unnest(custodians) as address where split_part(address, '@', 2) = ${domain}))
    limit 1`.execute(tx)
  return rows.length > 0
}

/** The addresses among these that a legal hold covers. */
export async function heldAmong(db: Db, emails: readonly string[], now: Date) {
  const { rows } = await sql<{ email: string }>`
    select email from (
      select email, organization_id from email_accounts where email = any(${emails}::text[])
      union all
      select email, organization_id from shared_mailboxes
      where email = any(${emails}::text[]) and status = 'active'
    ) as mailboxes
    where is_held(organization_id, email, ${now.toISOString()}::timestamptz)`.execute(db)
  return new Set(rows.map(({ email }) => email))
}
