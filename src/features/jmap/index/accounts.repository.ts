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

/** A holder who may log in. */
export const findHolder = (db: Db, id: string): Promise<AccountHolder | undefined> =>
  db
    .selectFrom('email_accounts as holder')
    .innerJoin('domains', 'domains.id', 'holder.domain_id')
    .innerJoin('organizations', 'organizations.id', 'holder.organization_id')
    .select(['holder.id', 'holder.email', 'holder.name', 'holder.organization_id'])
    .where('holder.id', '=', id)
    .where('holder.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .executeTakeFirst()

export const ownAccountOf = ({ id, email, organization_id }: AccountHolder): MailAccount => ({
  id,
  email,
  name: email,
  organizationId: organization_id,
  isPersonal: true,
  isReadOnly: false,
})

/** The shared mailboxes of the own organization of which holders are members, by holder. */
async function sharedByHolder(db: Db, holderIds: readonly string[]) {
  const shared = await db
    .selectFrom('shared_mailbox_members as member')
    .innerJoin('email_accounts as holder', 'holder.id', 'member.email_account_id')
    .innerJoin('shared_mailboxes as box', 'box.id', 'member.shared_mailbox_id')
    .innerJoin('domains', 'domains.id', 'box.domain_id')
    .select(['box.id', 'box.email', 'box.name', 'box.organization_id', 'member.permission'])
    .select('member.email_account_id as holder_id')
    .where(sql<boolean>`member.email_account_id = any(${holderIds}::text[])`)
    .whereRef('box.organization_id', '=', 'holder.organization_id')
    .where('box.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .orderBy('box.email')
    .execute()
  const byHolder = new Map<string, MailAccount[]>(holderIds.map((id) => [id, []]))
  for (const { holder_id, id, email, name, organization_id, permission } of shared) {
    byHolder.get(holder_id)?.push({
      id,
      email,
      name: name || email,
      organizationId: organization_id,
      isPersonal: false,
      isReadOnly: permission !== 'full_access',
    })
  }
  return byHolder
}

/** The shared mailboxes of the own organization of which a holder is a member. */
export const sharedAccounts = async (db: Db, holderId: string): Promise<MailAccount[]> =>
  (await sharedByHolder(db, [holderId])).get(holderId) ?? []

/** The accounts of each holder by its id: the own mailbox first, then shared ones. */
export async function accountsByHolder(db: Db, holders: readonly AccountHolder[]) {
  const shared = await sharedByHolder(
    db,
    holders.map(({ id }) => id),
  )
  return new Map(
    holders.map((holder) => [holder.id, [ownAccountOf(holder), ...(shared.get(holder.id) ?? [])]]),
  )
}

/** True while a holder may use an account: a membership can end while a program waits for changes. */
export async function mayUse(db: Db, holderId: string, accountId: string): Promise<boolean> {
  const holder = await findHolder(db, holderId)
  if (!holder || holderId === accountId) return holder !== undefined
  return (await sharedAccounts(db, holderId)).some(({ id }) => id === accountId)
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
