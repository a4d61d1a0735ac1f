import { type SqlBool, sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import { dropDays } from '../../../database/days.ts'
import { IS_ACTIVITY } from '../../../events/activity.ts'
import { storedEvents, webhookDeliveries } from '../webhooks.days.ts'

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
 * Drops the days of events without pending deliveries. Those that wait, and those that tenants see as
 * activity, are copied and kept for longer. A dead letter has its own copy of the event. Returns how many
 * events are gone.
 */
export async function deleteSentEvents(
  db: Db,
  { before, activityBefore }: { before: Date; activityBefore: Date },
  batchSize: number,
): Promise<number> {
  const isOld = sql`created_at < ${before.toISOString()}::timestamptz`
  // Both parts of the condition are found by an index, so a day need not be read to be dropped.
  const isKept = sql<SqlBool>`(
    (${IS_ACTIVITY} and created_at >= ${activityBefore.toISOString()}::timestamptz)
    or events.id = any(array(
      select event_id from webhook_queue
      where event_created_at < ${before.toISOString()}::timestamptz)))`
  const { rows } = await sql<{ expired: number }>`
    select count(*) as expired from events where ${isOld} and ${isKept} is not true`.execute(db)
  await dropDays(db, storedEvents, { before, isKept, batchSize })
  return rows[0]?.expired ?? 0
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
