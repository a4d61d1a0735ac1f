import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { claimRows, heldBy, isFree, type Lease, setReleased } from '../../../jobs/lease.ts'
import type { WrittenMessage } from './plan-messages.task.ts'

const TABLE = 'calendar_mail'

interface Origin {
  organization_id: string
  account_id: string
  collection_id: string
}

export const insert = (tx: Tx, origin: Origin, messages: readonly WrittenMessage[], now: Date) =>
  tx
    .insertInto(TABLE)
    .values(
      messages.map((one) => ({
        ...origin,
        ...one,
        due_at: now.toISOString(),
        created_at: now.toISOString(),
      })),
    )
    .execute()

export async function countWaiting(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom(TABLE)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export interface Waiting {
  id: string
  account_id: string
  collection_id: string | null
  uid: string
  method: string
  sender: string
  recipient: string
  content: string
  attempts: number
  created_at: string
}

/**
 * Claims messages that are due, of each sender the oldest: limits count by sender. A message waits for
 * the earlier ones about the same event.
 */
export const claim = (db: Db, lease: Lease, limit: number, now: Date): Promise<Waiting[]> =>
  claimRows<Waiting>(db, TABLE, lease, {
    key: ['id'],
    where: sql`due_at <= ${now.toISOString()}::timestamptz and not exists (
      select from calendar_mail earlier
      where earlier.account_id = calendar_mail.account_id and earlier.seq < calendar_mail.seq
        and (earlier.due_at <= ${now.toISOString()}::timestamptz
          or (earlier.recipient = calendar_mail.recipient and earlier.uid = calendar_mail.uid)))`,
    orderBy: sql`due_at, seq`,
    limit,
    returning: sql`id, account_id, collection_id, uid, method, sender, recipient, content, attempts,
      created_at`,
  })

export const finish = (db: Db, id: string, lease: Lease) =>
  db.deleteFrom(TABLE).where('id', '=', id).where(heldBy(lease)).execute()

export const postpone = (db: Db, id: string, lease: Lease, dueAt: Date) =>
  sql`update calendar_mail
    set attempts = attempts + 1, due_at = ${dueAt.toISOString()}::timestamptz, ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(db)

/** Lets the other messages of a sender wait. */
export const pause = (db: Db, accountId: string, dueAt: Date) =>
  sql`update calendar_mail set due_at = ${dueAt.toISOString()}::timestamptz
    where account_id = ${accountId} and due_at < ${dueAt.toISOString()}::timestamptz
      and ${isFree}`.execute(db)

/** The login of the holder whose change is sent; undefined when the mailbox is gone. */
export const loginOf = async (db: Db, accountId: string): Promise<string | undefined> =>
  (
    await db
      .selectFrom('email_accounts')
      .select('email')
      .where('id', '=', accountId)
      .executeTakeFirst()
  )?.email
