import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { heldBy, type Lease, LeaseLost } from '../../../jobs/lease.ts'
import { type Mark, marksIn } from '../../../jobs/marks.ts'
import type { Permission } from '../shared-mailboxes.schemas.ts'

export interface Pending extends Mark<'email'> {
  /** Members whose sessions must be ended. */
  losing: string[]
}

export const { claim, finish, postpone } = marksIn<'email', Pending>(
  'shared_mailbox_rights_pending',
  { key: 'email', columns: sql`losing`, again: sql`losing = '{}'` },
)

/** Before rights are taken away: the sessions of these members are ended also after a crash. */
export async function setLosing(
  db: Db,
  email: string,
  losing: readonly string[],
  lease: Lease,
): Promise<void> {
  const { numAffectedRows } = await sql`update shared_mailbox_rights_pending
    set losing = ${losing}::text[] where email = ${email} and ${heldBy(lease)}`.execute(db)
  if (!numAffectedRows) throw new LeaseLost()
}

/** Marks all active shared mailboxes, to correct rights that were changed outside of Mailplane. */
export const markAll = (db: Db) =>
  sql`insert into shared_mailbox_rights_pending (email)
    select email from shared_mailboxes where status = 'active'
    order by email on conflict (email) do nothing`.execute(db)

/**
 * Returns the members of an address, whether Dovecot should host it, whether a hold keeps its mail, and the
 * logins of deleted mailboxes that had the address.
 */
export async function targetState(db: Db, email: string) {
  const [mailbox, members, account, deleted] = await Promise.all([
    db
      .selectFrom('shared_mailboxes')
      .innerJoin('domains', 'domains.id', 'shared_mailboxes.domain_id')
      .innerJoin('organizations', 'organizations.id', 'shared_mailboxes.organization_id')
      .select([
        sql<boolean>`domains.hosted and organizations.active`.as('hosted'),
        sql<boolean>`keeps_shared(shared_mailboxes.id)`.as('kept'),
      ])
      .where('shared_mailboxes.email', '=', email)
      .where('shared_mailboxes.status', '=', 'active')
      .executeTakeFirst(),
    db
      .selectFrom('shared_mailboxes')
      .innerJoin(
        'shared_mailbox_members',
        'shared_mailbox_members.shared_mailbox_id',
        'shared_mailboxes.id',
      )
      .innerJoin('email_accounts', 'email_accounts.id', 'shared_mailbox_members.email_account_id')
      .select(['email_accounts.email', 'shared_mailbox_members.permission'])
      .where('shared_mailboxes.email', '=', email)
      .where('shared_mailboxes.status', '=', 'active')
      .where('email_accounts.status', '=', 'active')
      .orderBy('email_accounts.email')
      .$narrowType<{ permission: Permission }>()
      .execute(),
    db.selectFrom('email_accounts').select('id').where('email', '=', email).executeTakeFirst(),
    db.selectFrom('deleted_mailboxes').select('login').where('email', '=', email).execute(),
  ])
  return {
    isHosted: mailbox?.hosted ?? false,
    isShared: mailbox !== undefined,
    isKept: mailbox?.kept ?? false,
    members,
    isPersonal: account !== undefined,
    deletedLogins: deleted.map(({ login }) => login),
  }
}
