import type { Db } from '../../database/database.ts'

/** The hosted domain with this name or id, and whose it is. */
export const findDomain = (db: Db, nameOrId: string) =>
  db
    .selectFrom('domains')
    .select(['organization_id', 'domain'])
    .where((eb) => eb.or([eb('domain', '=', nameOrId.toLowerCase()), eb('id', '=', nameOrId)]))
    .executeTakeFirst()

export const findOrganization = (db: Db, id: string) =>
  db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()
