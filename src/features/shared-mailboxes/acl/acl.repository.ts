import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { claimRows, heldBy, type Lease, LeaseLost, setReleased } from '../../../jobs/lease.ts'
import type { Permission } from '../shared-mailboxes.schemas.ts'

export interface Pending {
  email: string
  changes: number
  attempts: number
  /** Members whose sessions must be ended. */
  losing: string[]
}

const TABLE = 'shared_mailbox_rights_pending'

/** Claims entries that are due. */
export const claim = (db: Db, lease: Lease, limit: number): Promise<Pending[]> =>
  claimRows<Pending>(db, TABLE, lease, {
    key: ['email'],
    where: sql`due_at <= now()`,
    orderBy: sql`due_at, email`,
    limit,
    returning: sql`email, changes, attempts, losing`,
  })

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

/** An entry that was marked again in the meantime stays and is due at once. */
export async function finish(db: Db, { email, changes }: Pending, lease: Lease): Promise<void> {
  const { numAffectedRows } = await sql`delete from shared_mailbox_rights_pending
    where email = ${email} and changes = ${changes} and ${heldBy(lease)}`.execute(db)
  // A separate statement, because the first one does not see a mark that it waited for.
  if (numAffectedRows) return
  await sql`update shared_mailbox_rights_pending set losing = '{}', ${setReleased}
    where email = ${email} and ${heldBy(lease)}`.execute(db)
}

export const postpone = (db: Db, email: string, lease: Lease, seconds: number) =>
  sql`update shared_mailbox_rights_pending
    set attempts = attempts + 1, due_at = now() + make_interval(secs => ${seconds}), ${setReleased}
    where email = ${email} and ${heldBy(lease)}`.execute(db)

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
