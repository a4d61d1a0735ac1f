import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const counts = sql.raw('id, status, total_messages, migrated_messages, failed_messages')

export interface Counts {
  id: string
  status: string
  total_messages: number
  migrated_messages: number
  failed_messages: number
}

interface Change {
  total?: number
  migrated?: number
  failed?: number
  folder?: string
  speed?: number
}

/** Adds to what a job has done; nothing when another daemon has it meanwhile. */
export async function add(tx: Tx | Db, daemon: string, id: string, change: Change) {
  const { total = null, migrated = 0, failed = 0, folder = null, speed = null } = change
  const { rows } = await sql<Counts>`
    update migration_jobs set
      total_messages = greatest(
        coalesce(${total}::bigint, total_messages),
        migrated_messages + failed_messages + ${migrated}::bigint + ${failed}::bigint),
      migrated_messages = migrated_messages + ${migrated}::bigint,
      failed_messages = failed_messages + ${failed}::bigint,
      current_folder = coalesce(${folder}, current_folder),
      speed = coalesce(${speed}::float8, speed),
      updated_at = now()
    where id = ${id} and claimed_by = ${daemon}
    returning ${counts}`.execute(tx)
  return rows[0]
}

/** True for the first daemon that begins it, and never again. */
export async function begin(tx: Tx, daemon: string, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('migration_jobs')
    .set({ started_at: now.toISOString() })
    .where('id', '=', id)
    .where('claimed_by', '=', daemon)
    .where('status', '=', 'running')
    .where('started_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends a job, unless somebody else has: its passwords are gone with it. */
export async function end(
  tx: Tx,
  daemon: string,
  id: string,
  how: { status: 'completed' | 'failed'; error: string | null; now: Date },
) {
  const { rows } = await sql<Counts & { started_at: string | null }>`
    update migration_jobs set
      status = ${how.status},
      error = ${how.error},
      credentials = null,
      current_folder = null,
      total_messages = case when ${how.status} = 'completed'
        then migrated_messages + failed_messages else total_messages end,
      completed_at = ${how.now.toISOString()}::timestamptz,
      updated_at = now(),
      claimed_by = null,
      claimed_until = null
    where id = ${id} and claimed_by = ${daemon} and status = 'running'
    returning ${counts}, started_at`.execute(tx)
  return rows[0]
}

export interface Failure {
  folder: string
  message_uid: string
  message_id?: string
  error_type: string
  error_message: string
  retryable?: boolean
}

/** False when this very message had failed before. */
export async function logFailure(tx: Tx, jobId: string, failure: Failure): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('migration_errors')
    .values({ job_id: jobId, ...failure })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** Messages by folder: those that this job gave up on, or those that it is for. */
export async function failures(db: Db, by: 'job_id' | 'retry_job_id', jobId: string) {
  const rows = await db
    .selectFrom('migration_errors')
    .select(['folder', 'message_uid'])
    .where(by, '=', jobId)
    .execute()
  const folders = new Map<string, Set<string>>()
  for (const { folder, message_uid } of rows) {
    const uids = folders.get(folder) ?? new Set()
    folders.set(folder, uids.add(message_uid))
  }
  return folders
}
