import type { Db, Tx } from '../../database/database.ts'

/** A mailbox whose holder may sign in: mailbox and organization are active, the domain is hosted. */
export const findActiveAccount = (db: Db, email: string) =>
  db
    .selectFrom('email_accounts')
    .innerJoin('domains', 'domains.id', 'email_accounts.domain_id')
    .innerJoin('organizations', 'organizations.id', 'email_accounts.organization_id')
    .select([
      'email_accounts.id',
      'email_accounts.email',
      'email_accounts.name',
      'email_accounts.must_change_password',
      'email_accounts.password_change_reason',
    ])
    .where('email_accounts.email', '=', email)
    .where('email_accounts.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .executeTakeFirst()

export const setLastLogin = (tx: Tx, id: string, now: Date) =>
  tx
    .updateTable('email_accounts')
    .set({ last_login: now.toISOString(), last_activity: now.toISOString() })
    .where('id', '=', id)
    .execute()
