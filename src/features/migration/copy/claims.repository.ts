import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { JobRow } from '../migration.repository.ts'

const LOCK = 5_377_077

export type ClaimedJob = JobRow & { credentials: Buffer }

interface Share {
  daemon: string
  leaseSeconds: number
  /** To one host at once, from all daemons together. */
  jobsPerHost: number
}

/**
 * The next job for a daemon: pending, or left behind by one that died. Whose organization has the
 * fewest running goes first. Daemons ask one after the other, so that the limits hold.
 */
export const claim = (db: Db, { daemon, leaseSeconds, jobsPerHost }: Share) =>
  db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx)
    const { rows } = await sql<ClaimedJob>`
      with busy as (
        select id, organization_id, remote_host, pair_id from migration_jobs
        -- A cancelled job has its mailboxes until its daemon has let go of them.
        where claimed_until > now()
      )
      update migration_jobs set
        status = 'running',
        claimed_by = ${daemon},
        claimed_until = now() + make_interval(secs => ${leaseSeconds}),
        updated_at = now()
      where id = (
        select id from migration_jobs as job
        where status in ('pending', 'running')
          and organization_id is not null
          and credentials is not null
          and (claimed_until is null or claimed_until <= now())
          and not exists (select from busy where busy.pair_id = job.pair_id)
          and (select count(*) from busy where busy.remote_host = job.remote_host) < ${jobsPerHost}
        order by
          (select count(*) from busy where busy.organization_id = job.organization_id),
          job.status = 'running' desc, job.created_at, job.id
        limit 1
      )
      returning *`.execute(tx)
    return rows[0]
  })

/**
 * A job of ours that should make room: an organization waits that has nothing running, while another
 * has several. It loses nothing by that; whoever has a place next goes on with it.
 */
export const findGreedy = async (db: Db, share: Share, isFull: boolean) => {
  const { rows } = await sql<{ id: string }>`
    with busy as (
      select id, organization_id, remote_host, pair_id, claimed_by, created_at from migration_jobs
      where claimed_until > now()
    ),
    waiting as (
      select remote_host, (select count(*) from busy where busy.remote_host = job.remote_host)
        >= ${share.jobsPerHost} as is_crowded
      from migration_jobs as job
      where status in ('pending', 'running') and credentials is not null
        and (claimed_until is null or claimed_until <= now())
        and not exists (select from busy where busy.organization_id = job.organization_id)
    )
    select busy.id from busy
    join waiting on case when is_crowded
      then busy.remote_host = waiting.remote_host else ${isFull}::boolean end
    where busy.claimed_by = ${share.daemon}
      and (select count(*) from busy as same where same.organization_id = busy.organization_id) > 1
    order by busy.created_at desc limit 1`.execute(db)
  return rows[0]?.id
}

/** Signs of life; says which jobs are still ours and what was decided about them meanwhile. */
export const renew = async (db: Db, daemon: string, ids: string[], leaseSeconds: number) => {
  const { rows } = await sql<{ id: string; status: string }>`
    update migration_jobs set claimed_until = now() + make_interval(secs => ${leaseSeconds})
    where id = any(${ids}) and claimed_by = ${daemon}
    returning id, status`.execute(db)
  return rows
}

/** Lets go of a job that has not ended, for another daemon. */
export const release = (db: Db, daemon: string, id: string) =>
  db
    .updateTable('migration_jobs')
    .set({ claimed_by: null, claimed_until: null })
    .where('id', '=', id)
    .where('claimed_by', '=', daemon)
    .execute()
