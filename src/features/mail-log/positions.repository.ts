import { sql } from 'kysely'
import type { Db, Tx } from '../../database/database.ts'
import { heldBy, type Lease, setLeased } from '../../jobs/lease.ts'
import type { Portion, Position } from './log-follower.ts'
import type { Message } from './messages.ts'
import type { Counted } from './same-rows.ts'

/** Limits waiting for locks, which ends a deadlock between the transactions of two portions. */
export const waitAtMost = (tx: Tx, seconds: number) =>
  sql`select set_config('lock_timeout', ${`${seconds}s`}, true)`.execute(tx)

interface StoredState {
  position: Position
  counted: Counted
  messages: Message[]
}

export async function load(db: Db, name: string): Promise<StoredState> {
  const { head, inode, offset, counted, updated_at } = await db
    .selectFrom('mail_log_positions')
    .select(['head', 'inode', 'offset', 'counted', 'updated_at'])
    .where('name', '=', name)
    .executeTakeFirstOrThrow()
  const rows = await db
    .selectFrom('mail_log_messages')
    .select('message')
    .where('log_name', '=', name)
    .orderBy('seen')
    .execute()
  return {
    position: { head: Buffer.from(head), inode, offset, at: new Date(updated_at) },
    counted: counted as unknown as Counted,
    messages: rows.map(({ message }) => message as unknown as Message),
  }
}

/** Moves the position and renews the lease. Returns false if the lease or the position has changed. */
export async function advance(
  tx: Tx,
  name: string,
  lease: Lease,
  before: Pick<Position, 'inode' | 'offset'>,
  after: Portion['after'],
  counted: Counted,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update mail_log_positions
    set head = ${after.head}, inode = ${after.inode}, "offset" = ${after.offset},
      counted = ${counted}::jsonb, updated_at = now(), ${setLeased(lease)}
    where name = ${name} and ${heldBy(lease)}
      and inode = ${before.inode} and "offset" = ${before.offset}`.execute(tx)
  return numAffectedRows === 1n
}

export async function storeMessages(
  tx: Tx,
  name: string,
  { changed, gone }: { changed: Message[]; gone: string[] },
  seen: number,
): Promise<void> {
  if (gone.length > 0) {
    await sql`
      delete from mail_log_messages
      where log_name = ${name} and queue_id = any(${gone}::text[])`.execute(tx)
  }
  if (changed.length === 0) return
  const rows = changed.map((message, index) => ({
    queue_id: message.queueId,
    seen: seen * 1000 + index,
    message,
  }))
  await sql`
    insert into mail_log_messages (log_name, queue_id, seen, message)
    select ${name}, queue_id, seen, message
    from json_to_recordset(${rows}::json) as new (queue_id text, seen bigint, message jsonb)
    on conflict (log_name, queue_id) do update set seen = excluded.seen, message = excluded.message`.execute(
    tx,
  )
}
