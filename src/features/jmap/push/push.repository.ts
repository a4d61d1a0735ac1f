import { type Insertable, type Selectable, type SqlBool, sql } from 'kysely'
import type { MailCredential } from '../../../access/mail-credentials.ts'
import type { Db } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'

export type PushRow = Selectable<Tables['jmap_push_subscriptions']>

/** A web session can end by time, while the other credentials are removed. */
const hasLiveSession = sql<SqlBool>`(push.session_id is null or exists (
  select from sessions s where s.id = push.session_id and s.revoked_at is null
    and s.expires_at > now() and s.absolute_expiry > now()))`

/** All subscriptions of a holder, whatever they were made with. */
export const subscriptionsOf = (db: Db, holderId: string): Promise<PushRow[]> =>
  db
    .selectFrom('jmap_push_subscriptions as push')
    .selectAll()
    .where('email_account_id', '=', holderId)
    .where('expires_at', '>', sql<string>`now()`)
    .where(hasLiveSession)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

/** The columns that name a credential; those of the password are empty. */
export const credentialColumns = (credential: MailCredential) => ({
  app_password_id: credential.kind === 'app_password' ? credential.id : null,
  grant_id: credential.kind === 'grant' ? credential.id : null,
  session_id: credential.kind === 'session' ? credential.id : null,
})

/** RFC 8620 section 7.2: a program sees the subscriptions that were made with its credential. */
export async function ownSubscriptions(db: Db, { holder, credential }: Owner): Promise<PushRow[]> {
  const own = Object.entries(credentialColumns(credential)) as [keyof PushRow, string | null][]
  const rows = await subscriptionsOf(db, holder.id)
  return rows.filter((row) => own.every(([column, id]) => row[column] === id))
}

interface Owner {
  holder: { id: string }
  credential: MailCredential
}

export const insertSubscription = (db: Db, row: Insertable<Tables['jmap_push_subscriptions']>) =>
  db.insertInto('jmap_push_subscriptions').values(row).execute()

export type Subscriber = Awaited<ReturnType<typeof subscribers>>[number]

/** Holders whose programs wait for changes, or one of them. */
export const subscribers = (db: Db, holderId?: string) =>
  db
    .selectFrom('jmap_push_subscriptions as push')
    .innerJoin('email_accounts as holder', 'holder.id', 'push.email_account_id')
    .innerJoin('domains', 'domains.id', 'holder.domain_id')
    .innerJoin('organizations', 'organizations.id', 'holder.organization_id')
    .select(['holder.id', 'holder.email', 'holder.name', 'holder.organization_id'])
    .select(sql<string[]>`array_agg(push.id order by push.id)`.as('subscription_ids'))
    .where('push.is_verified', '=', true)
    .where('push.expires_at', '>', sql<string>`now()`)
    .where(hasLiveSession)
    .where('holder.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .$if(holderId !== undefined, (query) => query.where('holder.id', '=', holderId as string))
    .groupBy('holder.id')
    .execute()

/** Notes the state of an account with verified subscriptions that have none of it. */
export const begin = (db: Db, holderId: string, accountId: string, state: number) =>
  db
    .updateTable('jmap_push_subscriptions')
    .set({
      sent_states: sql`sent_states || ${JSON.stringify({ [accountId]: state })}::text::jsonb`,
    })
    .where('email_account_id', '=', holderId)
    .where('is_verified', '=', true)
    .where(sql<boolean>`not sent_states ? ${accountId}`)
    .execute()

/**
 * Notes what is about to be sent. False when another process has done so: only one of them sends, and
 * a process that is killed now loses this message, not the next one.
 */
export async function claimPush(db: Db, row: PushRow, states: object): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('jmap_push_subscriptions')
    .set({ sent_states: states })
    .where('id', '=', row.id)
    .where(sql<boolean>`sent_states = ${JSON.stringify(row.sent_states)}::text::jsonb`)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const countFailure = (db: Db, id: string) =>
  db
    .updateTable('jmap_push_subscriptions')
    .set({ failures: sql`failures + 1` })
    .where('id', '=', id)
    .execute()

/** A receiver that never answers is forgotten; its program subscribes again. */
export const deleteFailing = (db: Db, id: string, limit: number) =>
  db
    .deleteFrom('jmap_push_subscriptions')
    .where('id', '=', id)
    .where('failures', '>=', limit)
    .execute()

export const clearFailures = (db: Db, id: string) =>
  db
    .updateTable('jmap_push_subscriptions')
    .set({ failures: 0 })
    .where('id', '=', id)
    .where('failures', '>', 0)
    .execute()
