import { sql } from 'kysely'
import type { Scope } from '../../../access/caller.ts'
import type { Db } from '../../../database/database.ts'
import { inScope } from '../../../database/scope.ts'
import { columns } from '../mailboxes.repository.ts'

const withDomain = (db: Db, scope: Scope) =>
  db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .select([
      ...columns,
      'domains.domain as domain_name',
      'domains.max_quota as domain_quota',
      'domains.total_storage_used as domain_storage_used',
    ])
    .where(inScope('email_accounts', scope))

export const listActive = (db: Db, scope: Scope) =>
  withDomain(db, scope)
    .where('email_accounts.status', '=', 'active')
    .orderBy('email_accounts.email')
    .execute()

export const findByEmail = (db: Db, scope: Scope, email: string) =>
  withDomain(db, scope).where('email_accounts.email', '=', email).executeTakeFirst()

export const find = (db: Db, scope: Scope, id: string) =>
  withDomain(db, scope).where('email_accounts.id', '=', id).executeTakeFirst()

export type LegacyRow = NonNullable<Awaited<ReturnType<typeof find>>>

export const logins = (db: Db, accountId: string, since: Date) =>
  db
    .selectFrom('sessions')
    .select((eb) => [
      sql<number>`count(*)`.as('total_logins'),
      eb.fn.max('created_at').as('last_login'),
      sql<number>`count(distinct ip_address)`.as('unique_ips'),
    ])
    .where('email_account_id', '=', accountId)
    .where('created_at', '>=', since.toISOString())
    .executeTakeFirstOrThrow()
