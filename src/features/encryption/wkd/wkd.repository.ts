import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** Undefined unless mail of the domain is accepted here. */
export const findDomain = (db: Db, domain: string) =>
  db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select('domains.id')
    .where('domains.domain', '=', domain)
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .executeTakeFirst()

/** The preferred key of an active mailbox, as others may see it. */
export async function findPublished(
  db: Db,
  domainId: string,
  hash: string,
  now: Date,
): Promise<Buffer | undefined> {
  const row = await db
    .selectFrom('pgp_keys')
    .innerJoin('email_accounts', 'email_accounts.id', 'pgp_keys.account_id')
    .select('pgp_keys.published_key')
    .where('pgp_keys.wkd_hash', '=', hash)
    .where('pgp_keys.preferred', '=', true)
    .where('pgp_keys.revoked', '=', false)
    .where(
      sql<SqlBool>`(pgp_keys.expires_at is null
        or pgp_keys.expires_at > ${now.toISOString()}::timestamptz)`,
    )
    .where('email_accounts.domain_id', '=', domainId)
    .where('email_accounts.status', '=', 'active')
    .executeTakeFirst()
  return row?.published_key
}
