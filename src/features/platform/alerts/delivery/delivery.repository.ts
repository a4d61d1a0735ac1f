import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import { claiming, heldBy, isFree, type Lease, released } from '../../../../jobs/lease.ts'
import type { Channel } from './channel-sender.ts'
import type { AlertState } from './notification.ts'

export interface DueNotification extends AlertState, Channel {
  id: number
  channel_id: string
  attempts: number
}

/**
 * Claims notifications that are due, one for each channel that is not busy here, in the order of their
 * events.
 */
export async function claim(db: Db, lease: Lease, busy: string[], now: Date) {
  const { rows } = await sql<DueNotification>`
    with due as (
      select distinct on (waiting.channel_id) waiting.id
      from alert_notifications waiting
      where waiting.done_at is null and waiting.due_at <= ${now.toISOString()} and ${isFree}
        and waiting.channel_id <> all(${busy}::text[])
        and not exists (
          select from alert_notifications earlier
          where earlier.event_id = waiting.event_id and earlier.channel_id = waiting.channel_id
            and earlier.id < waiting.id and earlier.done_at is null)
      order by waiting.channel_id, waiting.id
    ), claimed as (${claiming('alert_notifications', lease, {
      key: ['id'],
      where: sql`id in (select id from due) and done_at is null and due_at <= ${now.toISOString()}`,
      orderBy: sql`id`,
      limit: null,
      set: sql`attempts = attempts + 1`,
      returning: sql`id, event_id, channel_id, kind, attempts`,
    })})
    select claimed.id::bigint as id, claimed.channel_id, claimed.kind, claimed.attempts,
      channels.type, channels.target, channels.signing_secret,
      events.rule_name, events.severity, events.metric, events.comparator, events.threshold,
      events.value, events.message, events.created_at, events.resolved_at
    from claimed
    join alert_channels channels on channels.id = claimed.channel_id
    join alert_events events on events.id = claimed.event_id`.execute(db)
  return rows
}

export const finish = (db: Db, id: number, lease: Lease, error: string | null, now: Date) =>
  db
    .updateTable('alert_notifications')
    .set({ done_at: now.toISOString(), last_error: error, ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()

export const postpone = (db: Db, id: number, lease: Lease, error: string, until: Date) =>
  db
    .updateTable('alert_notifications')
    .set({ due_at: until.toISOString(), last_error: error, ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()

export const deleteDone = (db: Db, before: Date) =>
  db.deleteFrom('alert_notifications').where('done_at', '<', before.toISOString()).execute()
