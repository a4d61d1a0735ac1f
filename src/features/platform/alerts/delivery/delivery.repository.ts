import { sql } from 'kysely'
import type { Db } from '../../../../database/database.ts'
import type { Channel } from './channel-sender.ts'
import type { Told } from './notification.ts'

export interface DueNotification extends Told, Channel {
  id: number
  channel_id: string
  attempts: number
}

/**
 * Takes what is due, one for each channel that is not busy here, in the order it happened. The next
 * time is moved past the attempt: whoever dies in the middle is followed up then.
 */
export async function takeDue(db: Db, busy: string[], now: Date, until: Date) {
  const { rows } = await sql<DueNotification>`
    with due as (
      select distinct on (waiting.channel_id) waiting.id
      from alert_notifications waiting
      where waiting.done_at is null and waiting.due_at <= ${now.toISOString()}
        and waiting.channel_id <> all(${busy}::text[])
        and not exists (
          select from alert_notifications earlier
          where earlier.event_id = waiting.event_id and earlier.channel_id = waiting.channel_id
            and earlier.id < waiting.id and earlier.done_at is null)
      order by waiting.channel_id, waiting.id
    ), taken as (
      update alert_notifications set attempts = attempts + 1, due_at = ${until.toISOString()}
      where id in (
        select id from alert_notifications
        where id in (select id from due) and done_at is null and due_at <= ${now.toISOString()}
        for update skip locked)
      returning id, event_id, channel_id, kind, attempts
    )
    select taken.id::bigint as id, taken.channel_id, taken.kind, taken.attempts,
      channels.type, channels.target, channels.signing_secret,
      events.rule_name, events.severity, events.metric, events.comparator, events.threshold,
      events.value, events.message, events.created_at, events.resolved_at
    from taken
    join alert_channels channels on channels.id = taken.channel_id
    join alert_events events on events.id = taken.event_id`.execute(db)
  return rows
}

export const finish = (db: Db, id: number, error: string | null, now: Date) =>
  db
    .updateTable('alert_notifications')
    .set({ done_at: now.toISOString(), last_error: error })
    .where('id', '=', id)
    .execute()

export const postpone = (db: Db, id: number, error: string, until: Date) =>
  db
    .updateTable('alert_notifications')
    .set({ due_at: until.toISOString(), last_error: error })
    .where('id', '=', id)
    .execute()

export const deleteDone = (db: Db, before: Date) =>
  db.deleteFrom('alert_notifications').where('done_at', '<', before.toISOString()).execute()
