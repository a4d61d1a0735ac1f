import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db, Tx } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'

export const findOrganization = (db: Db, scope: Scope, id: string) =>
  db
    .selectFrom('organizations')
    .select('id')
    .where('id', '=', id)
    .where(scope === 'platform' ? sql<boolean>`true` : sql<boolean>`id = ${scope.organization}`)
    .executeTakeFirst()

export const findDomain = (db: Db, scope: Scope, domain: string) =>
  db
    .selectFrom('domains')
    .select(['id', 'organization_id', 'domain'])
    .where('domain', '=', domain)
    .where(inScope('domains', scope))
    .executeTakeFirst()

const columns = [
  'enabled',
  'enabled_fields',
  'chunk_size',
  'chunk_overlap',
  'embedding_provider',
  'privacy_mode',
  'auto_index',
  'index_schedule',
  'max_documents',
  'next_run_at',
  'updated_at',
] as const

export const find = (db: Db, organizationId: string) =>
  db
    .selectFrom('rag_settings')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst()

export type SettingsRow = NonNullable<Awaited<ReturnType<typeof find>>>

export const replace = (tx: Tx, organizationId: string, row: Omit<SettingsRow, 'updated_at'>) =>
  tx
    .insertInto('rag_settings')
    .values({ organization_id: organizationId, ...row })
    .onConflict((conflict) =>
      conflict.column('organization_id').doUpdateSet({ ...row, updated_at: sql`now()` }),
    )
    .execute()

/** The domains whose mail may be indexed, by name. */
export const mailDomains = async (db: Db, organizationId: string) =>
  db
    .selectFrom('rag_mail_domains')
    .innerJoin('domains', 'domains.id', 'rag_mail_domains.domain_id')
    .select(['domains.id', 'domains.domain'])
    .where('rag_mail_domains.organization_id', '=', organizationId)
    .orderBy('domains.domain')
    .execute()

export const isMailAllowed = async (db: Db, domainId: string): Promise<boolean> =>
  (await db
    .selectFrom('rag_mail_domains')
    .select('domain_id')
    .where('domain_id', '=', domainId)
    .executeTakeFirst()) !== undefined

export const allowMail = (tx: Tx, organizationId: string, domainIds: readonly string[]) =>
  tx
    .insertInto('rag_mail_domains')
    .values(domainIds.map((domain_id) => ({ domain_id, organization_id: organizationId })))
    .onConflict((conflict) => conflict.doNothing())
    .execute()

/** Withdraws the consent for domains and deletes everything indexed from their mail. */
export async function forbidMail(tx: Tx, organizationId: string, domainIds: readonly string[]) {
  await tx
    .deleteFrom('rag_mail_domains')
    .where('organization_id', '=', organizationId)
    .where('domain_id', 'in', domainIds)
    .execute()
  await tx
    .deleteFrom('rag_documents')
    .where('domain_id', 'in', domainIds)
    .where('source', '=', 'mail')
    .execute()
  await sql`
    delete from rag_folders using email_accounts
    where email_accounts.id = rag_folders.email_account_id
      and email_accounts.domain_id = any(${domainIds}::text[])`.execute(tx)
}
