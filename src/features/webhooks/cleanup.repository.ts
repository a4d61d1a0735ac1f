import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

/** Successes by when they arrived, everything else by when it was tried; answers how many went. */
export async function deleteDeliveries(
  db: Db,
  successesBefore: Date,
  failuresBefore: Date,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_deliveries where id in (
      select id from webhook_deliveries
      where created_at < ${successesBefore.toISOString()}::timestamptz
        and (delivery_status = 'delivered' or created_at < ${failuresBefore.toISOString()}::timestamptz)
      order by created_at, id limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}

/** Events that wait for no delivery; a dead letter has its own copy. */
export async function deleteSentEvents(db: Db, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from events where sequence in (
      select sequence from events
      where created_at < ${before.toISOString()}::timestamptz
        and not exists (select from webhook_queue where webhook_queue.event_id = events.id)
      order by sequence limit ${limit})`.execute(db)
  return Number(numAffectedRows ?? 0n)
}
