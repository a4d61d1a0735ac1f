import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

export interface Job {
  id: string
  organization_id: string
  domain_id: string
  full_reindex: boolean
  attempts: number
}

/** Adds a job, or makes the one that waits already do what is asked; answers its id. */
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

/** The next one that waits, or that whoever had it has lost; one at a time for a domain. */
export async function claim(db: Db, owner: string, leaseSeconds: number): Promise<Job | undefined> {
  const { rows } = await sql<Job>`
    update rag_jobs set status = 'running', leased_by = ${owner}, attempts = attempts + 1,
      leased_until = now() + make_interval(secs => ${leaseSeconds}),
      begun_at = coalesce(begun_at, now())
    where id = (
      select id from rag_jobs jobs
      where due_at <= now() and (
        (status = 'running' and leased_until < now())
        or (status = 'pending' and not exists (
          select from rag_jobs other
          where other.domain_id = jobs.domain_id and other.status = 'running')))
      order by due_at limit 1 for update skip locked)
    returning id, organization_id, domain_id, full_reindex, attempts`.execute(db)
  return rows[0]
}

interface Progress {
  documents: number
  chunks: number
  removed: number
}

/** False when the job is somebody else's by now: then nothing of what goes with this may be stored. */
export async function advance(
  db: Db,
  id: string,
  owner: string,
  leaseSeconds: number,
  { documents, chunks, removed }: Progress = { documents: 0, chunks: 0, removed: 0 },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update rag_jobs set leased_until = now() + make_interval(secs => ${leaseSeconds}),
      documents_indexed = documents_indexed + ${documents},
      chunks_created = chunks_created + ${chunks},
      documents_removed = documents_removed + ${removed}
    where id = ${id} and leased_by = ${owner} and status = 'running'`.execute(db)
  return numAffectedRows === 1n
}

export const end = (db: Db, id: string, owner: string, error: string | null) =>
  sql`
    update rag_jobs set status = ${error === null ? 'complete' : 'failed'}, error = ${error},
      ended_at = now(), leased_by = null
    where id = ${id} and leased_by = ${owner}`.execute(db)

/** Puts a job back for later; the domain may have got another one meanwhile, which then does it. */
export const giveBack = (db: Db, id: string, owner: string, waitSeconds: number, error: string) =>
  sql`
    update rag_jobs set leased_until = now() + make_interval(secs => ${waitSeconds}),
      due_at = now() + make_interval(secs => ${waitSeconds}), error = ${error}, leased_by = null
    where id = ${id} and leased_by = ${owner}`.execute(db)

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

/** Organizations whose mail is to be indexed by now; whoever gets them makes the jobs. */
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
