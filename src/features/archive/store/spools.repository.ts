import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'
import type { StorageType } from '../storage/object-storage.ts'

type Place = 'spool' | StorageType

/** Reports that a process uploads from the folder; `problem` is why it cannot. */
export const report = (db: Db, id: string, host: string, problem: string | null, now: Date) =>
  sql`
  insert into archive_spools (id, host, problem, problem_since, seen_at)
  values (${id}, ${host}, ${problem}, ${problem === null ? null : now.toISOString()}::timestamptz,
    ${now.toISOString()})
  on conflict (id) do update set host = excluded.host, problem = excluded.problem,
    problem_since = case when excluded.problem is null then null
      else coalesce(archive_spools.problem_since, excluded.problem_since) end,
    seen_at = excluded.seen_at`.execute(db)

/** Counts messages that could not be archived. */
export const countFailure = (db: Db, id: string, host: string, now: Date) =>
  sql`
  insert into archive_spools (id, host, failures, seen_at)
  values (${id}, ${host}, 1, ${now.toISOString()})
  on conflict (id) do update set failures = archive_spools.failures + 1`.execute(db)

export interface SpoolStatus {
  spool_id: string
  host: string
  messages: number
  bytes: number
  oldest_at: string | null
  failures: number
  problem: string | null
  problem_since: string | null
  seen_at: string
}

export async function list(db: Db): Promise<SpoolStatus[]> {
  const { rows } = await sql<SpoolStatus>`
    select spools.id as spool_id, host, coalesce(messages, 0)::int as messages,
      coalesce(bytes, 0)::bigint as bytes, oldest_at, failures, problem, problem_since, seen_at
    from archive_spools spools
    left join (
      select spool_id, count(*) as messages, sum(stored_size) as bytes, min(archived_at) as oldest_at
      from archived_messages where storage_type = 'spool' group by spool_id
    ) as files on files.spool_id = spools.id
    order by spools.id`.execute(db)
  return rows
}

/** Messages that each place has taken since the beginning. */
export async function taken(db: Db): Promise<Record<Place, number>> {
  const { rows } = await sql<Record<Place, number>>`
    select coalesce(pg_sequence_last_value('archive_taken_spool'), 0) as spool,
      coalesce(pg_sequence_last_value('archive_taken_s3'), 0) as s3,
      coalesce(pg_sequence_last_value('archive_taken_local'), 0) as local`.execute(db)
  return rows[0] as Record<Place, number>
}

/** The bytes that wait in the folder. */
export async function bytesByOrganization(db: Db, id: string): Promise<Map<string, number>> {
  const { rows } = await sql<{ organization_id: string; bytes: number }>`
    select organization_id, sum(stored_size)::bigint as bytes from archived_messages
    where storage_type = 'spool' and spool_id = ${id}
    group by organization_id`.execute(db)
  return new Map(rows.map(({ organization_id, bytes }) => [organization_id, bytes]))
}
