import type { Db } from '../database/database.ts'

/** Returns whether links of incoming mail of the organization are rewritten. Off unless it asks for it. */
export async function protectsLinks(db: Db, organizationId: string): Promise<boolean> {
  const row = await db
    .selectFrom('url_protection_settings')
    .select('enabled')
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()
  return row?.enabled ?? false
}
