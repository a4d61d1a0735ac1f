import { sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'

const TOP = 10

/** The mailbox with the quotas of its domain and organization, which it inherits. */
export const findDomain = (db: Db, scope: Scope, domain: string) =>
  domainsWithQuotas(db)
    .where('domains.domain', '=', domain)
    .where(inScope('domains', scope))
    .executeTakeFirst()

export const findMailbox = (db: Db, scope: Scope, email: string) =>
  mailboxesWithQuotas(db)
    .where('email_accounts.email', '=', email)
    .where(inScope('email_accounts', scope))
    .executeTakeFirst()

export type DomainStorage = NonNullable<Awaited<ReturnType<typeof findDomain>>>
export type MailboxStorage = NonNullable<Awaited<ReturnType<typeof findMailbox>>>

export const domainsWithQuotas = (db: Db) =>
  db
    .selectFrom('domains')
    .innerJoin('organizations', 'organizations.id', 'domains.organization_id')
    .select([
      'domains.id',
      'domains.organization_id',
      'domains.domain',
      'domains.max_quota',
      'domains.storage_quotas',
      'domains.total_storage_used',
      'domains.total_email_storage',
      'domains.total_attachment_storage',
      'domains.total_emails',
      'domains.total_attachments',
      'domains.total_email_accounts',
      'domains.last_storage_calculation',
      'domains.storage_calculation_time_ms',
      'organizations.storage_quotas as organization_quotas',
    ])

export const mailboxesWithQuotas = (db: Db) =>
  db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .innerJoin('organizations', 'organizations.id', 'email_accounts.organization_id')
    .select([
      'email_accounts.id',
      'email_accounts.organization_id',
      'email_accounts.domain_id',
      'email_accounts.email',
      'email_accounts.storage_quota',
      'email_accounts.storage_quotas',
      'email_accounts.storage_used',
      'email_accounts.email_storage_used',
      'email_accounts.attachment_storage_used',
      'email_accounts.total_emails',
      'email_accounts.total_attachments',
      'email_accounts.total_files',
      'email_accounts.last_storage_calculation',
      'domains.max_quota',
      'domains.storage_quotas as domain_quotas',
      'organizations.storage_quotas as organization_quotas',
    ])

/** A page of the active mailboxes of a domain, ordered by e-mail address. */
export const addressesOf = async (db: Db, domainId: string, after: string, limit: number) =>
  (
    await db
      .selectFrom('email_accounts')
      .select('email')
      .where('domain_id', '=', domainId)
      .where('status', '=', 'active')
      .where('email', '>', after)
      .orderBy('email')
      .limit(limit)
      .execute()
  ).map(({ email }) => email)

/** Reads stored sums and two ordered indexes; counts nothing. */
export async function summary(db: Db) {
  const [sums, domains, accounts] = await Promise.all([
    db
      .selectFrom('organizations')
      .select([
        sql<number>`coalesce(sum(total_storage_used), 0)::bigint`.as('total_storage_used'),
        sql<number>`coalesce(sum(storage_quota), 0)::bigint`.as('total_quota'),
        sql<number>`coalesce(sum(domain_count), 0)::int`.as('domain_count'),
        sql<number>`coalesce(sum(email_account_count), 0)::int`.as('account_count'),
      ])
      .executeTakeFirstOrThrow(),
    db
      .selectFrom('domains')
      .select(['domain', 'total_storage_used as storage_used', 'max_quota'])
      .orderBy('total_storage_used', 'desc')
      .orderBy('id', 'desc')
      .limit(TOP)
      .execute(),
    db
      .selectFrom('email_accounts')
      .select(['email', 'storage_used', 'storage_quota'])
      .orderBy('storage_used', 'desc')
      .orderBy('id', 'desc')
      .limit(TOP)
      .execute(),
  ])
  return { ...sums, top_domains: domains, top_accounts: accounts }
}
