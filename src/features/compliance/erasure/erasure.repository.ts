import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { heldBy, isFree, type Lease, leased, released } from '../../../jobs/lease.ts'

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
  organization_id: string | null
  account_id: string | null
  user_email: string
  requested_by: string
  reason: string | null
  previous_status: string | null
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

/** The erasure of a person that is scheduled or in progress. */
export const findWaiting = (db: Db, email: string) =>
  db
    .selectFrom('data_erasures')
    .select(columns)
    .where('user_email', '=', email)
    .where('status', '=', 'soft_deleted')
    .executeTakeFirst()

export const lockWaiting = (tx: Tx, email: string) =>
  tx
    .selectFrom('data_erasures')
    .select(columns)
    .where('user_email', '=', email)
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

export const cancel = (tx: Tx, id: string, message: string | null = null) =>
  tx
    .updateTable('data_erasures')
    .set({ status: 'cancelled', error_message: message })
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow()

/**
 * Locks an erasure that is due and that no process holds. Organizations in `served` follow after the
 * others, the one that was served last at the end.
 */
export const lockDue = (tx: Tx, now: Date, served: readonly string[]) =>
  tx
    .selectFrom('data_erasures')
    .select(columns)
    .where('status', '=', 'soft_deleted')
    .where('due_at', '<=', now.toISOString())
    .where(isFree)
    .orderBy(sql`array_position(${served}::text[], coalesce(organization_id, ''))`, (order) =>
      order.asc().nullsFirst(),
    )
    .orderBy('due_at')
    .orderBy('id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()

export const begin = (tx: Tx, id: string, lease: Lease, now: Date) =>
  tx
    .updateTable('data_erasures')
    .set({
      begun_at: sql`coalesce(begun_at, ${now.toISOString()}::timestamptz)`,
      attempts: sql`attempts + 1`,
      ...leased(lease),
    })
    .where('id', '=', id)
    .execute()

/** Adds to the counts of removed items; false when the lease was lost. */
export async function addRemoved(
  db: Db,
  id: string,
  lease: Lease,
  step: string,
  counts: Record<string, number>,
): Promise<boolean> {
  const names = Object.keys(counts)
  const { numUpdatedRows } = await db
    .updateTable('data_erasures')
    .set({
      removed: sql`removed || jsonb_build_object(${step}::text, coalesce(removed -> ${step}, '{}') || (
        select coalesce(jsonb_object_agg(name,
          coalesce((removed -> ${step} ->> name)::bigint, 0) + count), '{}')
        from unnest(${names}::text[], ${Object.values(counts)}::bigint[]) as added (name, count)))`,
    })
    .where('id', '=', id)
    .where(heldBy(lease))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Needs the lease, or a row that this transaction locked while no process held it. */
export const postpone = (db: Db, id: string, until: Date, message: string, lease?: Lease) =>
  db
    .updateTable('data_erasures')
    .set({ due_at: until.toISOString(), error_message: message, ...released })
    .where('id', '=', id)
    .where(lease ? heldBy(lease) : isFree)
    .execute()

/** Undefined when the lease was lost. */
export const finish = (tx: Tx, id: string, lease: Lease, now: Date) =>
  tx
    .updateTable('data_erasures')
    .set({
      status: 'hard_deleted',
      hard_deleted_at: now.toISOString(),
      error_message: null,
      ...released,
    })
    .where('id', '=', id)
    .where(heldBy(lease))
    .returning(columns)
    .executeTakeFirst()
