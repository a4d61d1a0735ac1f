import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { claimForIdle, heldBy, type Lease, released } from '../../../jobs/lease.ts'
import type { ExportType } from './exports.schemas.ts'

const columns = [
  'id',
  'user_email',
  'status',
  'export_type',
  'file_size',
  sql<Record<string, unknown>>`contents`.as('contents'),
  'requested_by',
  'error_message',
  'completed_at',
  'expires_at',
  'created_at',
] as const

export type ExportRow = Awaited<ReturnType<typeof insert>>

export interface NewExport {
  id: string
  organization_id: string | null
  account_id: string | null
  user_email: string
  export_type: ExportType
  requested_by: string
  due_at: string
  created_at: string
}

export const insert = (tx: Tx, row: NewExport) =>
  tx.insertInto('data_exports').values(row).returning(columns).executeTakeFirstOrThrow()

export async function listOf(db: Db, email: string, limit: number) {
  const query = db.selectFrom('data_exports').where('user_email', '=', email)
  const items = await query
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, email: string, id: string) =>
  db
    .selectFrom('data_exports')
    .select([
      'id',
      'organization_id',
      'status',
      'expires_at',
      'file_name',
      'file_key',
      'file_nonce',
      'file_tag',
      'file_size',
    ])
    .where('id', '=', id)
    .where('user_email', '=', email)
    .executeTakeFirst()

export interface ClaimedExport {
  id: string
  organization_id: string | null
  account_id: string | null
  user_email: string
  export_type: ExportType
  requested_by: string
  attempts: number
  created_at: string
}

/** Claims an export that is due, of an organization for which this process makes none. */
export const claim = (db: Db, lease: Lease, now: Date): Promise<ClaimedExport | undefined> =>
  claimForIdle<ClaimedExport>(db, 'data_exports', lease, {
    key: ['id'],
    where: sql`status in ('pending', 'processing') and due_at <= ${now.toISOString()}::timestamptz`,
    orderBy: sql`due_at, id`,
    set: sql`status = 'processing', attempts = attempts + 1`,
    returning: sql`id, organization_id, account_id, user_email, export_type, requested_by, attempts,
      created_at`,
  })

interface Outcome {
  status: 'pending' | 'completed' | 'failed'
  error_message?: string | null
  due_at?: string
  file_name?: string
  file_key?: Buffer
  file_nonce?: Buffer
  file_tag?: Buffer
  file_size?: number
  contents?: Record<string, number>
  completed_at?: string
  expires_at?: string
}

/** Stores the outcome and releases the lease; false when the lease was lost. */
export async function settle(tx: Db, id: string, lease: Lease, outcome: Outcome) {
  const { numUpdatedRows } = await tx
    .updateTable('data_exports')
    .set({ ...outcome, ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Deletes the key too: without it, no remaining copy of the archive can be read. */
export async function expire(db: Db, now: Date, limit: number) {
  const { rows } = await sql<{
    id: string
    organization_id: string | null
    user_email: string
    file_name: string | null
  }>`
    with expired as (
      select id, file_name from data_exports
      where status = 'completed' and expires_at <= ${now.toISOString()}::timestamptz
      order by expires_at limit ${limit} for update skip locked
    )
    update data_exports set status = 'expired', file_key = null, file_name = null
    from expired where data_exports.id = expired.id
    returning data_exports.id, data_exports.organization_id, data_exports.user_email,
      expired.file_name`.execute(db)
  return rows
}

/** Deletes every export of an address with its archive; returns how many there were. */
export async function deleteAllOf(tx: Tx, email: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('data_exports')
    .where('user_email', '=', email)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** The exports that refer to one of these archives, by the name of the archive. */
export async function referencedFiles(db: Db, names: string[]): Promise<Map<string, string>> {
  const { rows } = await sql<{ file_name: string; id: string }>`
    select file_name, id from data_exports where file_name = any(${names}::text[])`.execute(db)
  return new Map(rows.map(({ file_name, id }) => [file_name, id]))
}

/** Locks an export until the transaction ends; false when it is gone. */
export async function lock(tx: Tx, id: string): Promise<boolean> {
  const row = await tx
    .selectFrom('data_exports')
    .select('id')
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
  return row !== undefined
}
