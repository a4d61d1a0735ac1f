import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Permission } from '../shared-mailboxes.schemas.ts'

export interface Pending {
  email: string
  changes: number
  attempts: number
}

const LEASE_SECONDS = 30

/** Takes some of what is due for itself, for a while. */
export async function lease(db: Db, limit: number): Promise<Pending[]> {
  const { rows } = await sql<Pending>`
    update shared_mailbox_rights_pending set leased_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where email in (
      select email from shared_mailbox_rights_pending
      where due_at <= now() and leased_until <= now()
      order by due_at, email limit ${limit} for update skip locked)
    returning email, changes, attempts`.execute(db)
  return rows
}

/** It stays when it was marked again meanwhile, and is due at once. */
export async function finish(db: Db, { email, changes }: Pending): Promise<void> {
  const { numAffectedRows } = await sql`delete from shared_mailbox_rights_pending
    where email = ${email} and changes = ${changes}`.execute(db)
  // A statement of its own: a mark that the first one waited for is invisible to its other parts.
  if (!numAffectedRows) await release(db, [email])
}

export const release = (db: Db, emails: readonly string[]) =>
  sql`update shared_mailbox_rights_pending set leased_until = '-infinity'
    where email = any(${emails}::text[])`.execute(db)

export const postpone = (db: Db, email: string, seconds: number) =>
  sql`update shared_mailbox_rights_pending
    set leased_until = '-infinity', attempts = attempts + 1, due_at = now() + make_interval(secs => ${seconds})
    where email = ${email}`.execute(db)

/** All that are shared now: whatever was done to Dovecot behind our back is put right. */
export const markAll = (db: Db) =>
  sql`insert into shared_mailbox_rights_pending (email)
    select email from shared_mailboxes where status = 'active'
    order by email on conflict (email) do nothing`.execute(db)

/** Who has access to an address now, and whether Dovecot should know the address at all. */
export async function wanted(db: Db, email: string) {
  const [mailbox, members, account] = await Promise.all([
    db
      .selectFrom('shared_mailboxes')
      .innerJoin('domains', 'domains.id', 'shared_mailboxes.domain_id')
      .innerJoin('organizations', 'organizations.id', 'shared_mailboxes.organization_id')
      .select(sql<boolean>`domains.active and organizations.active`.as('hosted'))
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
  ])
  return {
    isHosted: mailbox?.hosted ?? false,
    isShared: mailbox !== undefined,
    members,
    isPersonal: account !== undefined,
  }
}
