import { sql } from 'kysely'
import type { Db, Tx } from '../database/database.ts'

/** Keeps the organization from being deleted until the end of the transaction; undefined when there is none. */
export const lockOrganization = (tx: Tx, id: string) =>
  tx.selectFrom('organizations').select('id').where('id', '=', id).forKeyShare().executeTakeFirst()

export const findDomain = (db: Db, organizationId: string, by: { id: string } | { name: string }) =>
  db
    .selectFrom('domains')
    .select(['id as domain_id', 'domain', 'tracking_enabled'])
    .where('organization_id', '=', organizationId)
    .where('id' in by ? 'id' : 'domain', '=', 'id' in by ? by.id : by.name)
    .executeTakeFirst()

export const isOrganization = async (db: Db, id: string): Promise<boolean> =>
  (await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()) !==
  undefined

/** From the counters that triggers maintain: the mailboxes themselves are too many to count. */
export async function countHosted(
  db: Db,
  column: 'domain_count' | 'email_account_count',
): Promise<number> {
  const { total } = await db
    .selectFrom('organizations')
    .select(sql<number>`coalesce(sum(${sql.ref(column)}), 0)::bigint`.as('total'))
    .executeTakeFirstOrThrow()
  return total
}

/** Bytes of storage that a reseller has allotted to its sub-organizations. */
export async function allottedToSubOrganizations(tx: Tx, id: string): Promise<number> {
  const { given } = await tx
    .selectFrom('organizations')
    .select(sql<number>`coalesce(sum(storage_limit_of(storage_quotas)), 0)::bigint`.as('given'))
    .where('parent_organization_id', '=', id)
    .executeTakeFirstOrThrow()
  return given
}
