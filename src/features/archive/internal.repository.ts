import type { Db } from '../../database/database.ts'

/** The organization that has proven that a domain is its own. */
export const hostOf = async (db: Db, domain: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom('domains')
      .select('organization_id')
      .where('domain', '=', domain.toLowerCase())
      .where('ownership_verified_at', 'is not', null)
      .executeTakeFirst()
  )?.organization_id
