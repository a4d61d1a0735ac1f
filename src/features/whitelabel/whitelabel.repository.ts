import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import type { Brand } from './whitelabel.schemas.ts'

const columns = [
  'organization_id',
  sql<Brand>`fields`.as('fields'),
  'custom_domain',
  'domain_verified_at',
  'updated_at',
] as const

export const find = (db: Db, organizationId: string) =>
  db
    .selectFrom('whitelabel_configs')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()

export const organizationExists = async (db: Db, id: string): Promise<boolean> =>
  (await db.selectFrom('organizations').select('id').where('id', '=', id).executeTakeFirst()) !==
  undefined

/** Serializes writers of one brand, also before the row exists. */
export const lockOrganization = async (tx: Tx, id: string): Promise<boolean> =>
  (await tx
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()) !== undefined

export const save = (
  tx: Tx,
  organizationId: string,
  fields: Brand,
  verifiedAt: string | null,
  now: Date,
) => {
  const row = {
    fields,
    custom_domain: fields.custom_domain ?? null,
    domain_verified_at: verifiedAt,
    updated_at: now.toISOString(),
  }
  return tx
    .insertInto('whitelabel_configs')
    .values({ organization_id: organizationId, ...row })
    .onConflict((conflict) => conflict.column('organization_id').doUpdateSet(row))
    .returning(columns)
    .executeTakeFirstOrThrow()
}

/** Only while the domain is the one that was verified; it may have changed meanwhile. */
export const setVerified = (
  tx: Tx,
  organizationId: string,
  domain: string,
  verifiedAt: string | null,
) =>
  tx
    .updateTable('whitelabel_configs')
    .set({ domain_verified_at: verifiedAt })
    .where('organization_id', '=', organizationId)
    .where('custom_domain', '=', domain)
    .execute()

export const remove = (tx: Tx, organizationId: string) =>
  tx
    .deleteFrom('whitelabel_configs')
    .where('organization_id', '=', organizationId)
    .returning(columns)
    .executeTakeFirst()
