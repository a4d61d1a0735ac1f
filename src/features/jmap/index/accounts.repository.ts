import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** A mailbox that a holder can use over JMAP: the own one, or a shared one. */
export interface MailAccount {
  id: string
  email: string
  name: string
  organizationId: string
  isPersonal: boolean
  isReadOnly: boolean
}

export interface AccountHolder {
  id: string
  email: string
  name: string | null
  organization_id: string
}

/** A holder who has logged in. */
export const findHolder = (db: Db, id: string): Promise<AccountHolder | undefined> =>
  db
    .selectFrom('email_accounts')
    .select(['id', 'email', 'name', 'organization_id'])
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst()

export const ownAccountOf = ({ id, email, organization_id }: AccountHolder): MailAccount => ({
  id,
  email,
  name: email,
  organizationId: organization_id,
  isPersonal: true,
  isReadOnly: false,
})

/** The shared mailboxes of the own organization of which a holder is a member. */
export async function sharedAccounts(db: Db, holderId: string): Promise<MailAccount[]> {
  const shared = await db
    .selectFrom('shared_mailbox_members as member')
    .innerJoin('email_accounts as holder', 'holder.id', 'member.email_account_id')
    .innerJoin('shared_mailboxes as box', 'box.id', 'member.shared_mailbox_id')
    .innerJoin('domains', 'domains.id', 'box.domain_id')
    .select(['box.id', 'box.email', 'box.name', 'box.organization_id', 'member.permission'])
    .where('member.email_account_id', '=', holderId)
    .whereRef('box.organization_id', '=', 'holder.organization_id')
    .where('box.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .orderBy('box.email')
    .execute()
  return shared.map(({ id, email, name, organization_id, permission }) => ({
    id,
    email,
    name: name || email,
    organizationId: organization_id,
    isPersonal: false,
    isReadOnly: permission !== 'full_access',
  }))
}

/** The own mailbox first, then shared ones. */
export const accountsOf = async (db: Db, holder: AccountHolder): Promise<MailAccount[]> => [
  ownAccountOf(holder),
  ...(await sharedAccounts(db, holder.id)),
]

/** True while a holder may use an account: a membership can end while a program waits for changes. */
export async function mayUse(db: Db, holderId: string, accountId: string): Promise<boolean> {
  const holder = await findHolder(db, holderId)
  return holder !== undefined && (await accountsOf(db, holder)).some(({ id }) => id === accountId)
}

/** The state begins at the time: a later index of the same mailbox repeats no state of this one. */
export async function ensureAccount(db: Db, account: MailAccount): Promise<void> {
  const known = await db
    .selectFrom('jmap_accounts')
    .select(sql<boolean>`used_at > now() - interval '1 hour'`.as('is_noted'))
    .where('id', '=', account.id)
    .executeTakeFirst()
  if (known?.is_noted) return
  if (known) {
    await db
      .updateTable('jmap_accounts')
      .set({ used_at: sql`now()` })
      .where('id', '=', account.id)
      .execute()
    return
  }
  const state = Date.now()
  await db
    .insertInto('jmap_accounts')
    .values({
      id: account.id,
      organization_id: account.organizationId,
      email_account_id: account.isPersonal ? account.id : null,
      shared_mailbox_id: account.isPersonal ? null : account.id,
      state,
      forgotten: state,
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Queries are planned by the number of rows; autovacuum would notice a large new index later. */
export const refreshStatistics = (db: Db) =>
  sql`analyze (skip_locked) jmap_emails, jmap_places, jmap_changes`.execute(db)
