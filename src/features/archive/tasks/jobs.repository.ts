import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import type { Page } from '../../../http/paging.ts'
import { claimForIdle, heldBy, type Lease, released } from '../../../jobs/lease.ts'

const columns = [
  ...(['id', 'organization_id', 'kind', 'email', 'status', 'total', 'done', 'added'] as const),
  ...(['failed', 'error', 'created_by', 'created_at', 'finished_at'] as const),
] as const

export type JobRow = NonNullable<Awaited<ReturnType<typeof find>>>

interface NewJob {
  id: string
  organization_id: string
  kind: 'import' | 'rekey'
  email: string | null
  created_by: string
  created_at: string
}

export const insert = (tx: Tx, job: NewJob) =>
  tx.insertInto('archive_jobs').values(job).returning(columns).executeTakeFirstOrThrow()

/** An unfinished job of this kind; `email` null for the whole organization. */
export const findOpen = (
  tx: Tx,
  organizationId: string,
  kind: NewJob['kind'],
  email: string | null,
) =>
  tx
    .selectFrom('archive_jobs')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('kind', '=', kind)
    .where(sql<boolean>`email is not distinct from ${email}`)
    .where('status', 'in', ['queued', 'running'])
    .executeTakeFirst()

export const find = (db: Db, organizationId: string, id: string) =>
  db
    .selectFrom('archive_jobs')
    .select(columns)
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst()

export async function list(db: Db, organizationId: string, page: Page) {
  const query = db.selectFrom('archive_jobs').where('organization_id', '=', organizationId)
  const items = await query
    .select(columns)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.perPage)
    .offset(page.offset)
    .execute()
  const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
  return { items, total }
}

/** The folder that an import has begun. */
export interface UnfinishedFolder {
  path: string
  uid_validity: string
  last_uid: number
}

export interface ClaimedJob {
  id: string
  organization_id: string
  kind: 'import' | 'rekey'
  email: string | null
  /** Messages that were looked at before an interruption. */
  done: number
  position: string
  unfinished_folder: UnfinishedFolder | null
}

/** Claims a job of an organization for which this process runs none. */
export const claim = (db: Db, lease: Lease): Promise<ClaimedJob | undefined> =>
  claimForIdle<ClaimedJob>(db, 'archive_jobs', lease, {
    key: ['id'],
    where: sql`status in ('queued', 'running')`,
    orderBy: sql`created_at, id`,
    set: sql`status = 'running'`,
    returning: sql`id, organization_id, kind, email, done, position, unfinished_folder`,
  })

export interface Progress {
  position?: string
  unfinished_folder?: UnfinishedFolder
  total?: number
  done?: number
  added?: number
  failed?: number
}

/** Adds to the counts. False when the lease is lost. */
export async function progress(db: Db, id: string, lease: Lease, more: Progress) {
  const { position = null, total = null, done = 0, added = 0, failed = 0 } = more
  const folder = more.unfinished_folder && JSON.stringify(more.unfinished_folder)
  const { numAffectedRows } = await sql`
    update archive_jobs set position = coalesce(${position}, position),
      unfinished_folder = coalesce(${folder ?? null}::text::jsonb, unfinished_folder),
      total = coalesce(${total}::int, total), done = done + ${done}::int,
      added = added + ${added}::int, failed = failed + ${failed}::int
    where id = ${id} and ${heldBy(lease)}`.execute(db)
  return numAffectedRows === 1n
}

export const finish = (db: Db, id: string, lease: Lease, error: string | null, at: Date) =>
  db
    .updateTable('archive_jobs')
    .set({
      status: error === null ? 'completed' : 'failed',
      error,
      finished_at: at.toISOString(),
      ...released,
    })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()

/** Left to the next attempt, before which jobs of others have their turn. */
export const interrupt = (
  db: Db,
  id: string,
  lease: Lease,
  { error, pauseSeconds }: { error: string; pauseSeconds: number },
) =>
  db
    .updateTable('archive_jobs')
    .set({
      error,
      lease_owner: null,
      lease_until: sql`now() + make_interval(secs => ${pauseSeconds})`,
    })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()

/** Deletes the records of old finished jobs. */
export const removeBefore = (db: Db, before: Date) =>
  db.deleteFrom('archive_jobs').where('finished_at', '<', before.toISOString()).execute()
