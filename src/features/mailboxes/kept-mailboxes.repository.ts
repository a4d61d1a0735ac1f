import { sql } from 'kysely'
import type { Tx } from '../../database/database.ts'

/** Closed for good, unless an operator cancels the erasure; see docs/compliance.md. */
export async function isAnyBeingErased(tx: Tx, ids: readonly string[]): Promise<boolean> {
  const { rows } = await sql`
    select id from data_erasures
    where account_id = any(${ids}::text[]) and status in ('pending', 'soft_deleted')
    limit 1`.execute(tx)
  return rows.length > 0
}

/** Placing a hold waits for the same row of the organization: one of the two comes first. */
export async function isAnyHeld(
  tx: Tx,
  organizationId: string,
  emails: readonly string[],
  now: Date,
): Promise<boolean> {
  await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', organizationId)
    .forNoKeyUpdate()
    .execute()
  const { rows } = await sql`
    select email from unnest(${emails}::text[]) as email
    where is_held(${organizationId}, email, ${now.toISOString()}::timestamptz)
    limit 1`.execute(tx)
  return rows.length > 0
}
