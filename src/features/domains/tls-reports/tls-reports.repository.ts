import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/** Counts of sessions since a time, by the kind of failure too. */
export async function sums(db: Db, domainId: string, since: Date) {
  const reports = db
    .selectFrom('tls_reports')
    .where('domain_id', '=', domainId)
    .where('received_at', '>=', since.toISOString())
  const totals = await reports
    .select([
      sql<number>`count(*)`.as('reports'),
      sql<number>`coalesce(sum(successful), 0)::bigint`.as('successful'),
      sql<number>`coalesce(sum(failed), 0)::bigint`.as('failed'),
    ])
    .executeTakeFirstOrThrow()
  const { rows: failures } = await sql<{ result_type: string; sessions: number }>`
    select key as result_type, sum(value::bigint)::bigint as sessions
    from tls_reports, jsonb_each_text(failures)
    where domain_id = ${domainId} and received_at >= ${since.toISOString()}::timestamptz
    group by key order by sessions desc, key`.execute(db)
  return { ...totals, failures }
}

export const newest = (db: Db, domainId: string, since: Date, limit: number) =>
  db
    .selectFrom('tls_reports')
    .select([
      'id',
      'reporter',
      'report_id',
      'policy_type',
      'starts_at',
      'ends_at',
      'successful',
      'failed',
      'failures',
      'received_at',
    ])
    .where('domain_id', '=', domainId)
    .where('received_at', '>=', since.toISOString())
    .orderBy('received_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

export const deleteBefore = (db: Db, before: Date) =>
  db.deleteFrom('tls_reports').where('received_at', '<', before.toISOString()).execute()
