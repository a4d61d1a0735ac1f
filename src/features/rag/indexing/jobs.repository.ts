import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { claimForIdle, heldBy, type Lease, setLeased, setReleased } from '../../../jobs/lease.ts'

export interface Job {
  id: string
  organization_id: string
  domain_id: string
  full_reindex: boolean
  attempts: number
}

/** Adds a job, or updates the pending one of the domain; returns its id. */
export async function insert(
  tx: Tx,
  job: { id: string; organization_id: string; domain_id: string; full_reindex: boolean },
): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into rag_jobs (id, organization_id, domain_id, full_reindex)
    values (${job.id}, ${job.organization_id}, ${job.domain_id}, ${job.full_reindex})
    on conflict (domain_id) where status = 'pending' do update
      set full_reindex = rag_jobs.full_reindex or excluded.full_reindex, due_at = now()
    returning id`.execute(tx)
  return rows[0]?.id as string
}

/**
 * Claims the next job of an organization for which this process runs none: a pending one, or one whose
 * lease has ended. A domain has one running job.
 */
export const claim = (db: Db, lease: Lease): Promise<Job | undefined> =>
  claimForIdle<Job>(db, 'rag_jobs', lease, {
    key: ['id'],
    where: sql`due_at <= now() and (
      status = 'running' or status = 'pending' and not exists (
        select from rag_jobs other
        where other.domain_id = rag_jobs.domain_id and other.status = 'running'))`,
    orderBy: sql`due_at`,
    set: sql`status = 'running', attempts = attempts + 1, begun_at = coalesce(begun_at, now())`,
    returning: sql`id, organization_id, domain_id, full_reindex, attempts`,
  })

interface Progress {
  documents: number
  chunks: number
  removed: number
}

/** Adds to the progress. Returns false if the lease was lost; then the transaction must roll back. */
export async function advance(
  tx: Tx,
  id: string,
  lease: Lease,
  { documents, chunks, removed }: Progress,
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update rag_jobs set ${setLeased(lease)},
      documents_indexed = documents_indexed + ${documents},
      chunks_created = chunks_created + ${chunks},
      documents_removed = documents_removed + ${removed}
    where id = ${id} and ${heldBy(lease)} and status = 'running'`.execute(tx)
  return numAffectedRows === 1n
}

export const end = (db: Db, id: string, lease: Lease, error: string | null) =>
  sql`
    update rag_jobs set status = ${error === null ? 'complete' : 'failed'}, error = ${error},
      ended_at = now(), ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(db)

/** Releases a job that is continued later. */
export const giveBack = (db: Db, id: string, lease: Lease, waitSeconds: number, error: string) =>
  sql`
    update rag_jobs set due_at = now() + make_interval(secs => ${waitSeconds}), error = ${error},
      ${setReleased}
    where id = ${id} and ${heldBy(lease)}`.execute(db)

export async function statusOf(db: Db, domainId: string) {
  const { rows } = await sql<{
    status: 'pending' | 'running' | 'complete' | 'failed' | null
    error: string | null
    total_emails: number
    indexed_emails: number
    last_indexed_at: string | null
    index_mail: boolean
  }>`
    select last.status, last.error,
      (select total_emails from domains where id = ${domainId}) as total_emails,
      (select count(*) from rag_documents where domain_id = ${domainId} and source = 'mail')
        as indexed_emails,
      (select max(ended_at) from rag_jobs where domain_id = ${domainId} and status = 'complete')
        as last_indexed_at,
      exists (select from rag_mail_domains where domain_id = ${domainId}) as index_mail
    from (select 1) as one left join lateral (
      select status, error from rag_jobs where domain_id = ${domainId}
      order by created_at desc, id desc limit 1) as last on true`.execute(db)
  return rows[0] as (typeof rows)[number]
}

export const domainsOf = (db: Db, organizationId: string) =>
  db
    .selectFrom('domains')
    .select(['id', 'organization_id'])
    .where('organization_id', '=', organizationId)
    .orderBy('id')
    .execute()

/** Locks organizations whose next scheduled run is due. The caller creates their jobs. */
export const takeDue = (tx: Tx) =>
  tx
    .selectFrom('rag_settings')
    .select(['organization_id', 'index_schedule'])
    .where('auto_index', '=', true)
    .where('enabled', '=', true)
    .where('next_run_at', '<=', sql<string>`now()`)
    .orderBy('next_run_at')
    .limit(50)
    .forUpdate()
    .skipLocked()
    .execute()

export const setNextRun = (tx: Tx, organizationId: string, at: string | null) =>
  tx
    .updateTable('rag_settings')
    .set({ next_run_at: at })
    .where('organization_id', '=', organizationId)
    .execute()

export const deleteOld = (db: Db, days: number) =>
  sql`
    delete from rag_jobs where status in ('complete', 'failed')
      and ended_at < now() - make_interval(days => ${days})`.execute(db)
