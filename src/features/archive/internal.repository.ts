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

/** The present storage of a message and its size there. */
export const placeOf = (db: Db, archiveId: string) =>
  db
    .selectFrom('archived_messages')
    .select(['storage_type', 'stored_size as compressed_size'])
    .where('id', '=', archiveId)
    .executeTakeFirst()
