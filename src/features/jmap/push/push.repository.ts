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

/** Holders whose programs wait for changes. */
export async function subscribedHolders(db: Db) {
  return db
    .selectFrom('jmap_push_subscriptions as push')
    .innerJoin('email_accounts as holder', 'holder.id', 'push.email_account_id')
    .innerJoin('domains', 'domains.id', 'holder.domain_id')
    .innerJoin('organizations', 'organizations.id', 'holder.organization_id')
    .select(['holder.id', 'holder.email', 'holder.name', 'holder.organization_id'])
    .where('push.is_verified', '=', true)
    .where('push.expires_at', '>', sql<string>`now()`)
    .where('holder.status', '=', 'active')
    .where('domains.hosted', '=', true)
    .where('organizations.active', '=', true)
    .distinct()
    .execute()
}

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
