import { type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'
import type { Sort } from '../../../http/sorting.ts'

type Status = 'running' | 'completed' | 'failed'

export interface Report {
  backup_id: string
  hostname: string
  backup_type: string
  target: string
  status: Status
  size_bytes?: number | undefined
  storage_path?: string | null | undefined
  checksum?: string | null | undefined
  encrypted: boolean
  error_message?: string | null | undefined
}

export type RunSort = Sort<'started_at' | 'completed_at' | 'id'>

export interface RunFilter {
  status?: Status
  target?: string
  backup_type?: string
}

const columns = [
  'id',
  'backup_id',
  'hostname',
  'started_at',
  'completed_at as finished_at',
  'status',
  'size_bytes',
  'target',
  'backup_type',
  'storage_path',
  'checksum',
  'encrypted',
  'error_message as error',
] as const

/** A later report of a run replaces the earlier one, but a late `running` does not reopen an ended run. */
export async function reportRun(db: Db | Tx, report: Report, at: Date) {
  const completed_at = report.status === 'running' ? null : at.toISOString()
  const row = {
    backup_id: report.backup_id,
    hostname: report.hostname,
    backup_type: report.backup_type,
    target: report.target,
    status: report.status,
    size_bytes: report.size_bytes ?? 0,
    storage_path: report.storage_path ?? null,
    checksum: report.checksum ?? null,
    encrypted: report.encrypted,
    error_message: report.error_message ?? null,
    completed_at,
  }
  const stored = await db
    .insertInto('backup_runs')
    .values({ ...row, started_at: at.toISOString() })
    .onConflict((conflict) =>
      conflict
        .columns(['backup_id', 'hostname'])
        .doUpdateSet(row)
        .where(sql<SqlBool>`backup_runs.status = 'running' or excluded.status <> 'running'`),
    )
    .returning(['id', 'backup_id'])
    .executeTakeFirst()
  if (stored) return stored
  return db
    .selectFrom('backup_runs')
    .select(['id', 'backup_id'])
    .where('backup_id', '=', report.backup_id)
    .where('hostname', '=', report.hostname)
    .executeTakeFirstOrThrow()
}

/** Forgets a host that is retired or was mistyped; returns the number of its runs. */
export async function removeHost(db: Db | Tx, hostname: string): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('backup_runs')
    .where('hostname', '=', hostname)
    .executeTakeFirst()
  return Number(numDeletedRows)
}

/** A host makes one backup at a time, so a run still open when the next starts has crashed. */
export const failUnfinished = (db: Db, hostname: string, at: Date) =>
  db
    .updateTable('backup_runs')
    .set({
      status: 'failed',
      error_message: 'The run ended without a word; marked as failed when the next run started',
      completed_at: at.toISOString(),
    })
    .where('hostname', '=', hostname)
    .where('target', '=', 'database')
    .where('status', '=', 'running')
    .execute()

/** The checksum of a completed run; undefined when the run is not on record. */
export async function checksumOf(db: Db, backupId: string): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('backup_runs')
    .select('checksum')
    .where('backup_id', '=', backupId)
    .where('status', '=', 'completed')
    .executeTakeFirst()
  return row?.checksum
}

const DRILL = 'restore drill'

export interface Drill {
  backup_id: string | null
  location: string
  finished_at: string
  seconds: number
  passed: boolean
  problems: string[]
  /** The time of the last drill that passed. */
  last_passed_at: string | null
}

export async function lastDrill(db: Db): Promise<Drill | null> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', DRILL)
    .executeTakeFirst()
  return row ? (JSON.parse(row.value.toString()) as Drill) : null
}

export async function recordDrill(db: Db, drill: Omit<Drill, 'last_passed_at'>): Promise<void> {
  const before = await lastDrill(db)
  const last_passed_at = drill.passed ? drill.finished_at : (before?.last_passed_at ?? null)
  const value = Buffer.from(JSON.stringify({ ...drill, last_passed_at }))
  await db
    .insertInto('settings')
    .values({ name: DRILL, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

const matching = (db: Db, filter: RunFilter) => {
  let query = db.selectFrom('backup_runs')
  if (filter.status) query = query.where('status', '=', filter.status)
  if (filter.target) query = query.where('target', '=', filter.target)
  if (filter.backup_type) query = query.where('backup_type', '=', filter.backup_type)
  return query
}

export async function list(
  db: Db,
  filter: RunFilter,
  { by, direction }: RunSort,
  { perPage, offset }: Page,
) {
  const items = await matching(db, filter)
    .select(columns)
    .orderBy(by, (order) => (direction === 'asc' ? order.asc() : order.desc().nullsLast()))
    .orderBy('id', 'desc')
    .limit(perPage)
    .offset(offset)
    .execute()
  const { total } = await matching(db, filter)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow()
  return { items, total }
}

export const newest = (db: Db, limit: number) =>
  db
    .selectFrom('backup_runs')
    .select(columns)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

export const totals = (db: Db) =>
  db
    .selectFrom('backup_runs')
    .select([
      sql<string | null>`max(completed_at) filter (where status = 'completed')`.as(
        'last_success_at',
      ),
      sql<string | null>`max(completed_at) filter (where status = 'failed')`.as('last_failure_at'),
      sql<number>`coalesce(sum(size_bytes) filter (where status = 'completed'), 0)::bigint`.as(
        'total_size_bytes',
      ),
      sql<number>`count(*)`.as('total_runs'),
      sql<number>`count(*) filter (where status = 'running')`.as('running'),
    ])
    .executeTakeFirstOrThrow()

export const hosts = (db: Db) =>
  db
    .selectFrom('backup_runs')
    .select([
      'hostname',
      sql<string | null>`max(completed_at) filter (where status = 'completed')`.as(
        'last_success_at',
      ),
      sql<number>`count(*) filter (where not encrypted)`.as('unencrypted_runs'),
    ])
    .groupBy('hostname')
    .orderBy('hostname')
    .execute()
