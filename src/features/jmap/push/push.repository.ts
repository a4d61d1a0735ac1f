import { type Selectable, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { Tables } from '../../../database/tables.ts'

export type PushRow = Selectable<Tables['jmap_push_subscriptions']>

export const subscriptionsOf = (db: Db, holderId: string): Promise<PushRow[]> =>
  db
    .selectFrom('jmap_push_subscriptions')
    .selectAll()
    .where('email_account_id', '=', holderId)
    .where('expires_at', '>', sql<string>`now()`)
    .orderBy('created_at')
    .orderBy('id')
    .execute()

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
