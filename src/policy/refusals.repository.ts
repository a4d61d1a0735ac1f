import { sql } from 'kysely'
import type { Db } from '../database/database.ts'
import type { SuppressionType } from '../hosting/suppressions.repository.ts'

/** The active suppression of one of the types that expires last. */
export async function findSuppression(
  db: Db,
  organizationId: string,
  email: string,
  types: readonly SuppressionType[],
  now: Date,
) {
  const { rows } = await sql<{ type: SuppressionType; expires_at: string | null }>`
    select suppression_type as type, expires_at
    from suppressions
    where email = ${email} and organization_id = ${organizationId} and active
      and suppression_type = any(${types}::text[])
      and (expires_at is null or expires_at > ${now.toISOString()}::timestamptz)
    order by expires_at desc nulls first
    limit 1`.execute(db)
  return rows[0]
}

export const findBlock = (db: Db, organizationId: string, sender: string) =>
  db
    .selectFrom('blocked_senders')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('sender', '=', sender)
    .executeTakeFirst()
