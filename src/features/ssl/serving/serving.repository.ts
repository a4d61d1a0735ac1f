import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/**
 * The readable certificates of hosted domains and of the mail host, and those that an operator put
 * into the folder. The longest valid one of a domain comes first.
 */
export const servable = (db: Db, folder: string, mailHost: string) =>
  db
    .selectFrom('certificates')
    .select(['domain', 'names', 'path', 'sealed_content'])
    .where('status', '=', 'active')
    .where(sql<SqlBool>`(sealed_content is not null or starts_with(path, ${`${folder}/`}))`)
    .where(
      sql<SqlBool>`(not auto_renew or certificates.domain = ${mailHost} or exists (
        select from domains join organizations on organizations.id = domains.organization_id
        where domains.domain = certificates.domain and domains.hosted and organizations.active))`,
    )
    .orderBy('domain')
    .orderBy(sql`valid_until desc nulls last`)
    .orderBy('id')
    .execute()
