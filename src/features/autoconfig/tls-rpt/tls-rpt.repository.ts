import { sql } from 'kysely'
import type { Tx } from '../../../database/database.ts'
import { ulid } from '../../../lib/ulid.ts'
import type { PolicyCounts, TlsReport } from './tls-report.ts'

/**
 * Stores the counts of a policy unless the domain has this report already or got too many in the last
 * day; returns whether it did.
 */
export async function insert(
  tx: Tx,
  domainId: string,
  report: Omit<TlsReport, 'policies'>,
  { policy_type, successful, failed, failures }: PolicyCounts,
  { perDay, now }: { perDay: number; now: Date },
): Promise<boolean> {
  const { rows } = await sql`
    insert into tls_reports (id, domain_id, reporter, report_id, policy_type, starts_at, ends_at,
      successful, failed, failures, received_at)
    select ${ulid()}, ${domainId}, ${report.reporter}, ${report.report_id}, ${policy_type},
      ${report.starts_at}::timestamptz, ${report.ends_at}::timestamptz, ${successful}, ${failed},
      ${JSON.stringify(failures)}::text::jsonb, ${now.toISOString()}::timestamptz
    where (select count(*) from tls_reports where domain_id = ${domainId}
      and received_at > ${now.toISOString()}::timestamptz - interval '1 day') < ${perDay}
    on conflict on constraint tls_reports_once do nothing
    returning id`.execute(tx)
  return rows.length > 0
}
