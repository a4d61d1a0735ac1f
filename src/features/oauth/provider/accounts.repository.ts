import type { Db } from '../../../database/database.ts'

/** The holder of an active mailbox on a hosted domain; the tokens of all others are refused. */
export const findHolder = (db: Db, id: string) =>
  db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .innerJoin('organizations', 'organizations.id', 'email_accounts.organization_id')
    .select(['email_accounts.email', 'email_accounts.name', 'email_accounts.organization_id'])
    .where('email_accounts.id', '=', id)
    .where('email_accounts.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .executeTakeFirst()
