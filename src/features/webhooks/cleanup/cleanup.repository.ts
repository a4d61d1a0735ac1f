import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { dropDays } from '../../../database/days.ts'
import { IS_ACTIVITY } from '../../../events/activity.ts'
import { webhookDeliveries } from '../webhooks.days.ts'

/** Attempts before these times are old; undefined keeps all of them. */
export interface Expiry {
  delivered: Date | undefined
  others: Date
}

const isExpired = ({ delivered, others }: Expiry) => sql<SqlBool>`(created_at <
  case delivery_status when 'delivered' then ${delivered?.toISOString() ?? '-infinity'}::timestamptz
    else ${others.toISOString()}::timestamptz end)`

/**
 * Drops the days whose attempts are old. Few are failures, which stay for longer than successes: they are
 * copied, and deleted one by one later. Returns how many attempts are gone.
 */
export async function deleteDeliveries(db: Db, expiry: Expiry, batchSize: number): Promise<number> {
  const before = new Date(Math.max(expiry.delivered?.getTime() ?? 0, expiry.others.getTime()))
  const { rows } = await sql<{ expired: number }>`
    select count(*) as expired from webhook_deliveries
    where created_at < ${before.toISOString()}::timestamptz and ${isExpired(expiry)}`.execute(db)
  const isKept = sql<SqlBool>`not ${isExpired(expiry)}`
  await dropDays(db, webhookDeliveries, { before, isKept, batchSize })
  return rows[0]?.expired ?? 0
}

/**
 * Deletes events without pending deliveries; those that tenants see as activity are kept for
 * longer. A dead letter has its own copy of the event.
 */
export async function deleteSentEvents(
  db: Db,
  { before, activityBefore }: { before: Date; activityBefore: Date },
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from events where sequence in (
      select sequence from events
      where created_at < ${before.toISOString()}::timestamptz
        and (created_at < ${activityBefore.toISOString()}::timestamptz
          or (${IS_ACTIVITY}) is not true)
        and not exists (select from webhook_queue where webhook_queue.event_id = events.id)
      order by sequence limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** Deletes one batch of old dead letters: ended ones early, those that wait for an operator later. */
export async function deleteDeadLetters(
  db: Db,
  { ended, waiting }: { ended: Date; waiting: Date },
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_dead_letters where id in (
      select id from webhook_dead_letters
      where (status in ('resolved', 'abandoned')
          and coalesce(resolved_at, last_attempted_at, created_at) < ${ended.toISOString()}::timestamptz)
        or created_at < ${waiting.toISOString()}::timestamptz
      order by id limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** The settings and the last run, in a single row. */
export const readCleanup = (db: Db) =>
  db
    .selectFrom('webhook_cleanup')
    .select(['settings', 'begun_at', 'finished_at', 'deleted_deliveries', 'deleted_events'])
    .executeTakeFirstOrThrow()

export const mergeSettings = (db: Db, settings: object) =>
  sql`update webhook_cleanup set settings = settings || ${settings}::jsonb`.execute(db)

export const noteBegin = (db: Db, begun_at: Date) =>
  db.updateTable('webhook_cleanup').set({ begun_at: begun_at.toISOString() }).execute()

export const noteEnd = (
  db: Db,
  finished_at: Date,
  deleted: { deleted_deliveries: number; deleted_events: number },
) =>
  db
    .updateTable('webhook_cleanup')
    .set({ finished_at: finished_at.toISOString(), ...deleted })
    .execute()

/** The number of attempts by status, and how many of them a clean-up would delete now. */
export async function countDeliveries(db: Db, expiry: Expiry) {
  const { rows } = await sql<{ status: string; total: number; expired: number }>`
    select delivery_status as status, count(*) as total,
      count(*) filter (where ${isExpired(expiry)}) as expired
    from webhook_deliveries group by delivery_status`.execute(db)
  return rows
}
