import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { heldBy, type Lease, setReleased } from '../../../jobs/lease.ts'

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

/** Adds to the counts of a job; undefined if the lease was lost. */
export async function add(tx: Tx | Db, lease: Lease, id: string, change: Change) {
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
    where id = ${id} and ${heldBy(lease)}
    returning ${counts}`.execute(tx)
  return rows[0]
}

/** Sets the start time; true only for the first start of the job. */
export async function begin(tx: Tx, lease: Lease, id: string, now: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('migration_jobs')
    .set({ started_at: now.toISOString() })
    .where('id', '=', id)
    .where(heldBy(lease))
    .where('status', '=', 'running')
    .where('started_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Ends a running job; undefined when the lease was lost. Its passwords are kept until the given time. */
export async function end(
  tx: Tx,
  lease: Lease,
  id: string,
  how: { status: 'completed' | 'failed'; error: string | null; now: Date; keepUntil: Date | null },
) {
  const keepUntil = how.keepUntil?.toISOString() ?? null
  const { rows } = await sql<Counts & { started_at: string | null }>`
    update migration_jobs set
      status = ${how.status},
      error = ${how.error},
      credentials = case when ${keepUntil}::timestamptz is not null then credentials end,
      credentials_until = ${keepUntil}::timestamptz,
      current_folder = null,
      total_messages = case when ${how.status} = 'completed'
        then migrated_messages + failed_messages else total_messages end,
      completed_at = ${how.now.toISOString()}::timestamptz,
      updated_at = now(),
      ${setReleased}
    where id = ${id} and ${heldBy(lease)} and status = 'running'
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

/** Records a failure; false if this message had failed before. */
export async function logFailure(tx: Tx, jobId: string, failure: Failure): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('migration_errors')
    .values({ job_id: jobId, ...failure })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/** The entry of the error log that is about the whole job. */
const ofJob = { folder: '', message_uid: '' }

/** Records why the whole job does not get on, or has failed; the last reason replaces earlier ones. */
export const logJobError = (db: Db | Tx, jobId: string, type: string, message: string) =>
  db
    .insertInto('migration_errors')
    .values({
      job_id: jobId,
      ...ofJob,
      error_type: type,
      error_message: storable(message),
      retryable: false,
    })
    .onConflict((conflict) =>
      conflict.columns(['job_id', 'folder', 'message_uid']).doUpdateSet((eb) => ({
        error_type: eb.ref('excluded.error_type'),
        error_message: eb.ref('excluded.error_message'),
      })),
    )
    .execute()

/** Removes the entry about the whole job once it gets on again. */
export const clearJobError = (db: Db, jobId: string) =>
  db
    .deleteFrom('migration_errors')
    .where('job_id', '=', jobId)
    .where('folder', '=', ofJob.folder)
    .where('message_uid', '=', ofJob.message_uid)
    .execute()

/** PostgreSQL rejects NUL, which the text of a server may contain. */
export const storable = (text: string) => text.replaceAll('\0', '').slice(0, 1000)

/** Failed messages by folder: those of this job, or those that it retries. */
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
