import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { ExportType } from './exports.schemas.ts'

const LEASE_SECONDS = 60

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
  organization_id: string
  account_id: string
  user_email: string
  export_type: ExportType
  requested_by: string
  due_at: string
  created_at: string
}

export const insert = (tx: Tx, row: NewExport) =>
  tx.insertInto('data_exports').values(row).returning(columns).executeTakeFirstOrThrow()

export async function listOf(db: Db, email: string, limit: number) {
  const of = db.selectFrom('data_exports').where('user_email', '=', email)
  const items = await of
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  const { total } = await of.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
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

export type ClaimedExport = NonNullable<Awaited<ReturnType<typeof claim>>>

/** One that is due and that nobody is at work on, or whose worker gave no sign for a while. */
export async function claim(db: Db, token: string, now: Date) {
  const { rows } = await sql<{
    id: string
    organization_id: string
    account_id: string
    user_email: string
    export_type: ExportType
    requested_by: string
    attempts: number
    created_at: string
  }>`
    update data_exports set status = 'processing', attempts = attempts + 1, lease_token = ${token},
      lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where id = (
      select id from data_exports
      where status in ('pending', 'processing') and due_at <= ${now.toISOString()}::timestamptz
        and lease_until <= now()
      order by due_at, id limit 1 for update skip locked
    )
    returning id, organization_id, account_id, user_email, export_type, requested_by, attempts,
      created_at`.execute(db)
  return rows[0]
}

/** False when somebody else has taken it over. */
export async function renew(db: Db, id: string, token: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('data_exports')
    .set({ lease_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})` })
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

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

/** What came of it; false when it is no longer this worker's to say. */
export async function settle(tx: Db, id: string, token: string, outcome: Outcome) {
  const { numUpdatedRows } = await tx
    .updateTable('data_exports')
    .set({ ...outcome, lease_token: null, lease_until: '-infinity' })
    .where('id', '=', id)
    .where('lease_token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** The key goes: what is left of the file, wherever, is noise. */
export async function expire(db: Db, now: Date, limit: number) {
  const { rows } = await sql<{
    id: string
    organization_id: string
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

/** Ends all of an address, whatever their state; answers their files. */
export async function endAllOf(tx: Tx, email: string): Promise<(string | null)[]> {
  const { rows } = await sql<{ file_name: string | null }>`
    with ended as (
      select id, file_name from data_exports
      where user_email = ${email} and status in ('pending', 'processing', 'completed')
      for update
    )
    update data_exports set status = 'expired', file_key = null, file_name = null,
      lease_token = null
    from ended where data_exports.id = ended.id
    returning ended.file_name`.execute(tx)
  return rows.map(({ file_name }) => file_name)
}

/** Which of these files a row still speaks of. */
export async function knownFiles(db: Db, names: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ file_name: string }>`
    select file_name from data_exports where file_name = any(${names}::text[])`.execute(db)
  return new Set(rows.map(({ file_name }) => file_name))
}
