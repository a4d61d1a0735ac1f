import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { claiming, heldBy, type Lease, released } from '../../../jobs/lease.ts'

export const insert = (tx: Tx, id: string, jobId: string, envelope: object) =>
  tx.insertInto('migration_notices').values({ id, job_id: jobId, envelope }).execute()

export interface Notice {
  id: string
  envelope: object
  attempts: number
  url: string | null
}

/** The organizations that have notices to send. Jobs without one have the id ''. */
export async function organizationsDue(db: Db): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct coalesce(job.organization_id, '') as id
    from migration_notices notice join migration_jobs job on job.id = notice.job_id
    where notice.due_at <= now() and notice.lease_until <= now()`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * Claims the oldest notice of each job of an organization when it is due. Later notices of the job wait,
 * so that its end is not sent before its beginning.
 */
export async function claim(
  db: Db,
  organizationId: string,
  lease: Lease,
  limit: number,
): Promise<Notice[]> {
  const { rows } = await sql<Notice>`
    with claimed as (${claiming('migration_notices', lease, {
      key: ['id'],
      where: sql`due_at <= now() and exists (
        select from migration_jobs job where job.id = migration_notices.job_id
          and coalesce(job.organization_id, '') = ${organizationId})
        and not exists (
        select from migration_notices earlier
        where earlier.job_id = migration_notices.job_id and earlier.id < migration_notices.id)`,
      orderBy: sql`due_at`,
      limit,
      set: sql`attempts = attempts + 1`,
      returning: sql`id, job_id, envelope, attempts`,
    })})
    select claimed.id, claimed.envelope, claimed.attempts, migration_jobs.webhook_url as url
    from claimed join migration_jobs on migration_jobs.id = claimed.job_id`.execute(db)
  return rows
}

export const remove = (db: Db, id: string, lease: Lease) =>
  db.deleteFrom('migration_notices').where('id', '=', id).where(heldBy(lease)).execute()

export const postpone = (db: Db, id: string, lease: Lease, seconds: number) =>
  db
    .updateTable('migration_notices')
    .set({ due_at: sql`now() + make_interval(secs => ${seconds})`, ...released })
    .where('id', '=', id)
    .where(heldBy(lease))
    .execute()
