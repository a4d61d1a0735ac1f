import { type SqlBool, sql } from 'kysely'
import type { Scope } from '../../access/caller.ts'
import type { Db, Tx } from '../../database/database.ts'
import { inScope } from '../../database/scope.ts'
import type { Page } from '../../http/paging.ts'
import { ulid } from '../../lib/ulid.ts'

export type Status = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'
export type Direction = 'import' | 'export'

// All columns except the credentials, which only the daemon reads.
const columns = [
  'id',
  'organization_id',
  'pair_id',
  'parent_job_id',
  'direction',
  'status',
  'is_delta',
  'is_retry',
  'mailbox',
  'remote_host',
  'remote_port',
  'remote_ssl',
  'remote_tls_verify',
  'remote_username',
  'remote_auth',
  'folder_mapping',
  'exclude_folders',
  'webhook_url',
  'total_messages',
  'migrated_messages',
  'failed_messages',
  'current_folder',
  'speed',
  'error',
  'started_at',
  'completed_at',
  'created_at',
] as const

export type JobRow = NonNullable<Awaited<ReturnType<typeof find>>>

export interface JobFilter {
  status?: Status
  direction?: Direction
}

const matching = (db: Db, scope: Scope, { status, direction }: JobFilter) => {
  let query = db.selectFrom('migration_jobs').where(inScope('migration_jobs', scope))
  if (status !== undefined) query = query.where('status', '=', status)
  if (direction !== undefined) query = query.where('direction', '=', direction)
  return query
}

export async function list(db: Db, scope: Scope, filter: JobFilter, page: Page) {
  const items = await matching(db, scope, filter)
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await matching(db, scope, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const find = (db: Db, scope: Scope, id: string) =>
  matching(db, scope, {}).select(columns).where('id', '=', id).executeTakeFirst()

/** Locks a job until the end of the transaction. */
export const hold = (tx: Tx, scope: Scope, id: string) =>
  matching(tx, scope, {}).select(columns).where('id', '=', id).forUpdate().executeTakeFirst()

export interface NewJob {
  id: string
  organization_id: string
  pair_id: string
  parent_job_id?: string
  direction: Direction
  is_delta?: boolean
  is_retry?: boolean
  mailbox: string
  remote_host: string
  remote_port: number
  remote_ssl: boolean
  remote_tls_verify: boolean
  remote_username: string
  remote_auth: 'password' | 'oauth2'
  folder_mapping: object
  exclude_folders: object
  webhook_url: string | null
  credentials: Buffer
  created_at: string
}

export const insert = (tx: Tx, jobs: NewJob[]) =>
  tx.insertInto('migration_jobs').values(jobs).execute()

export const findMailbox = (db: Db, scope: Scope, email: string) =>
  db
    .selectFrom('email_accounts')
    .select(['email', 'organization_id'])
    .where(inScope('email_accounts', scope))
    .where('email', '=', email)
    .executeTakeFirst()

/** Returns the id of the pair with this name; creates it if needed. */
export async function pairOf(tx: Tx, organizationId: string, name: string): Promise<string> {
  const { id } = await tx
    .insertInto('migration_pairs')
    .values({ id: ulid(), organization_id: organizationId, name })
    // An update without effect: `do nothing` would return no id.
    .onConflict((conflict) => conflict.columns(['organization_id', 'name']).doUpdateSet({ name }))
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export const cancel = (tx: Tx, id: string, now: Date) =>
  tx
    .updateTable('migration_jobs')
    .set({
      status: 'cancelled',
      credentials: null,
      credentials_until: null,
      completed_at: now.toISOString(),
      updated_at: now.toISOString(),
    })
    .where('id', '=', id)
    .execute()

/** The sealed passwords of a job that has ended, while they are kept. */
export const keptCredentials = async (tx: Tx, id: string, now: Date): Promise<Buffer | null> => {
  const row = await tx
    .selectFrom('migration_jobs')
    .select('credentials')
    .where('id', '=', id)
    .where('credentials_until', '>', now.toISOString())
    .executeTakeFirst()
  return row?.credentials ?? null
}

/** Deletes the passwords of jobs that ended long enough ago. */
export const eraseCredentials = (db: Db, now: Date) =>
  db
    .updateTable('migration_jobs')
    .set({ credentials: null, credentials_until: null })
    .where('credentials_until', '<=', now.toISOString())
    .execute()

/** Assigns the failed messages of a job to its child job; returns their number. */
export async function takeFailed(tx: Tx, jobId: string, childId: string): Promise<number> {
  const { numUpdatedRows } = await tx
    .updateTable('migration_errors')
    .set({ retried: true, retry_job_id: childId })
    .where('job_id', '=', jobId)
    .where('retryable', '=', true)
    .where('retried', '=', false)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

export const failedCount = async (tx: Tx, jobId: string): Promise<number> => {
  const { total } = await tx
    .selectFrom('migration_errors')
    .select(sql<number>`count(*)`.as('total'))
    .where('job_id', '=', jobId)
    .where('retryable', '=', true)
    .where('retried', '=', false)
    .executeTakeFirstOrThrow()
  return total
}

const errorColumns = [
  'folder',
  'message_uid',
  'message_id',
  'error_type',
  'error_message',
  'retryable',
  'retried',
  'migration_errors.created_at',
] as const

export async function errorsOf(db: Db, jobId: string, page: Page) {
  const rows = db.selectFrom('migration_errors').where('job_id', '=', jobId)
  const items = await rows
    .select(errorColumns)
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await rows.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

export const recentErrors = (db: Db, scope: Scope, limit: number) =>
  db
    .selectFrom('migration_errors')
    .innerJoin('migration_jobs', 'migration_jobs.id', 'migration_errors.job_id')
    .where(inScope('migration_jobs', scope))
    .select(['job_id', ...errorColumns])
    .orderBy('migration_errors.id', 'desc')
    .limit(limit)
    .execute()

const counted = (condition: ReturnType<typeof sql<SqlBool>>) =>
  sql<number>`count(*) filter (where ${condition})`

export const summary = (db: Db, scope: Scope) =>
  db
    .selectFrom('migration_jobs')
    .where(inScope('migration_jobs', scope))
    .select([
      sql<number>`count(*)`.as('total_jobs'),
      counted(sql`status = 'completed'`).as('completed_jobs'),
      counted(sql`status = 'running'`).as('running_jobs'),
      counted(sql`status = 'failed'`).as('failed_jobs'),
      counted(sql`status = 'pending'`).as('pending_jobs'),
      counted(sql`status = 'cancelled'`).as('cancelled_jobs'),
      sql<number>`coalesce(sum(total_messages), 0)::bigint`.as('total_messages'),
      sql<number>`coalesce(sum(migrated_messages), 0)::bigint`.as('total_migrated'),
      sql<number>`coalesce(sum(failed_messages), 0)::bigint`.as('total_failed'),
      // Only jobs that have copied messages have a speed.
      sql<number>`coalesce(avg(speed) filter (where speed > 0), 0)::float8`.as('avg_speed'),
      counted(sql`direction = 'import'`).as('import_jobs'),
      counted(sql`direction = 'export'`).as('export_jobs'),
      sql<string | null>`min(created_at)`.as('first_job_at'),
      sql<string | null>`max(updated_at)`.as('last_activity_at'),
    ])
    .executeTakeFirstOrThrow()
