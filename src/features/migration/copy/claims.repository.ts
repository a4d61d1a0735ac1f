import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import {
  claiming,
  heldBy,
  isFree,
  type Lease,
  releaseLease,
  setLeased,
} from '../../../jobs/lease.ts'
import type { JobRow } from '../migration.repository.ts'

const LOCK = 5_377_077

export type ClaimedJob = JobRow & { credentials: Buffer }

interface Share {
  lease: Lease
  /** The limit of running jobs for one remote host, over all daemons. */
  jobsPerHost: number
}

/**
 * Claims the next job: a pending one, or one whose daemon died. The organization with the fewest running
 * jobs goes first. Daemons claim one after the other, so that the limits hold.
 */
export const claim = (db: Db, { lease, jobsPerHost }: Share) =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
    const { rows } = await sql<ClaimedJob>`
      with busy as (
        select id, organization_id, remote_host, pair_id from migration_jobs
        -- A cancelled job keeps its mailboxes until its daemon has released it.
        where lease_until > now()
      )
      ${claiming('migration_jobs', lease, {
        key: ['id'],
        where: sql`status in ('pending', 'running')
          and organization_id is not null
          and credentials is not null
          and not exists (select from busy where busy.pair_id = migration_jobs.pair_id)
          and (select count(*) from busy where busy.remote_host = migration_jobs.remote_host)
            < ${jobsPerHost}`,
        orderBy: sql`
          (select count(*) from busy where busy.organization_id = migration_jobs.organization_id),
          status = 'running' desc, created_at, id`,
        set: sql`status = 'running', updated_at = now()`,
        returning: sql`*`,
      })}`.execute(tx)
    return rows[0]
  })

/**
 * A job of this daemon that should be released: its organization has several running jobs while another
 * organization has only waiting ones. The job loses nothing; a daemon continues it later.
 */
export const findGreedy = async (db: Db, share: Share, isFull: boolean) => {
  const { rows } = await sql<{ id: string }>`
    with busy as (
      select id, organization_id, remote_host, pair_id, lease_owner, created_at from migration_jobs
      where lease_until > now()
    ),
    waiting as (
      select remote_host, (select count(*) from busy where busy.remote_host = job.remote_host)
        >= ${share.jobsPerHost} as is_crowded
      from migration_jobs as job
      where status in ('pending', 'running') and credentials is not null
        and ${isFree}
        and not exists (select from busy where busy.organization_id = job.organization_id)
    )
    select busy.id from busy
    join waiting on case when is_crowded
      then busy.remote_host = waiting.remote_host else ${isFull}::boolean end
    where busy.lease_owner = ${share.lease.owner}
      and (select count(*) from busy as same where same.organization_id = busy.organization_id) > 1
    order by busy.created_at desc limit 1`.execute(db)
  return rows[0]?.id
}

/** Renews the lease and returns the status of the job; undefined when the lease was lost. */
export const renew = async (db: Db, id: string, lease: Lease): Promise<string | undefined> => {
  const { rows } = await sql<{ status: string }>`
    update migration_jobs set ${setLeased(lease)} where id = ${id} and ${heldBy(lease)}
    returning status`.execute(db)
  return rows[0]?.status
}

/** Releases a job that has not ended, for another daemon. */
export const release = (db: Db, id: string, lease: Lease) =>
  releaseLease(db, 'migration_jobs', { id }, lease)
