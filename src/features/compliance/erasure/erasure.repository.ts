import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const LEASE_SECONDS = 120

const columns = [
  'id',
  'organization_id',
  'account_id',
  'user_email',
  'status',
  'requested_by',
  'reason',
  'previous_status',
  sql<Record<string, Record<string, number>>>`removed`.as('removed'),
  'attempts',
  'error_message',
  'begun_at',
  'soft_deleted_at',
  'hard_delete_scheduled_at',
  'hard_deleted_at',
  'created_at',
] as const

export type ErasureRow = Awaited<ReturnType<typeof insert>>

export interface NewErasure {
  id: string
  organization_id: string
  account_id: string
  user_email: string
  requested_by: string
  reason: string | null
  previous_status: string
  due_at: string
  soft_deleted_at: string
  hard_delete_scheduled_at: string
  created_at: string
}

export const insert = (tx: Tx, row: NewErasure) =>
  tx.insertInto('data_erasures').values(row).returning(columns).executeTakeFirstOrThrow()

export const listOf = (db: Db, email: string, limit: number) =>
  db
    .selectFrom('data_erasures')
    .select(columns)
    .where('user_email', '=', email)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** The one under way for a mailbox. */
export const findWaiting = (db: Db, accountId: string) =>
  db
    .selectFrom('data_erasures')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('status', '=', 'soft_deleted')
    .executeTakeFirst()

export const lockWaiting = (tx: Tx, accountId: string) =>
  tx
    .selectFrom('data_erasures')
    .select(columns)
    .where('account_id', '=', accountId)
    .where('status', '=', 'soft_deleted')
    .forUpdate()
    .executeTakeFirst()

export const setMailboxStatus = (
  tx: Tx,
  accountId: string,
  status: 'active' | 'inactive' | 'suspended',
  now: Date,
) =>
  tx
    .updateTable('email_accounts')
    .set({ status, updated_at: now.toISOString() })
    .where('id', '=', accountId)
    .execute()

export const cancel = (tx: Tx, id: string) =>
  tx
    .updateTable('data_erasures')
    .set({ status: 'cancelled' })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/** One whose day has come and that nobody is at work on; held until the transaction ends. */
export const lockDue = (tx: Tx, now: Date) =>
  tx
    .selectFrom('data_erasures')
    .select(columns)
    .where('status', '=', 'soft_deleted')
    .where('due_at', '<=', now.toISOString())
    .where('lease_until', '<=', sql<string>`now()`)
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const begin = (tx: Tx, id: string, token: string, now: Date) =>
  tx
    .updateTable('data_erasures')
    .set({
      begun_at: sql`coalesce(begun_at, ${now.toISOString()}::timestamptz)`,
      attempts: sql`attempts + 1`,
      lease_token: token,
      lease_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})`,
    })
    .where('id', '=', id)
    .execute()

/** Adds to what was removed, and says that somebody is still at work. */
export async function addRemoved(
  db: Db,
  id: string,
  token: string,
  step: string,
  counts: Record<string, number>,
): Promise<boolean> {
  const names = Object.keys(counts)
  const { numUpdatedRows } = await db
    .updateTable('data_erasures')
    .set({
      lease_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})`,
      removed: sql`removed || jsonb_build_object(${step}::text, coalesce(removed -> ${step}, '{}') || (
        select coalesce(jsonb_object_agg(name,
          coalesce((removed -> ${step} ->> name)::bigint, 0) + count), '{}')
        from unnest(${names}::text[], ${Object.values(counts)}::bigint[]) as added (name, count)))`,
    })
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** By whoever has it, or by anybody who holds its row. */
export const postpone = (db: Db, id: string, until: Date, message: string, token?: string) =>
  db
    .updateTable('data_erasures')
    .set({
      due_at: until.toISOString(),
      error_message: message,
      lease_token: null,
      lease_until: '-infinity',
    })
    .where('id', '=', id)
    .$if(token !== undefined, (query) => query.where('lease_token', '=', token as string))
    .execute()

/** Undefined when it is no longer this worker's to say. */
export const finish = (tx: Tx, token: string, now: Date) =>
  tx
    .updateTable('data_erasures')
    .set({
      status: 'hard_deleted',
      hard_deleted_at: now.toISOString(),
      error_message: null,
      lease_token: null,
      lease_until: '-infinity',
    })
    .where('lease_token', '=', token)
    .returning(columns)
    .executeTakeFirst()
