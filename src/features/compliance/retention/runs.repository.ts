import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'
import { heldBy, type Lease, leased, released, setLeased } from '../../../jobs/lease.ts'
import type { PolicyFields } from './policies.repository.ts'

export interface Run extends PolicyFields {
  organization_id: string
  last_email: string
}

/**
 * Claims an organization whose last run is a day old, was interrupted, or was before the policy came into
 * force. During the grace period of a new policy the previous one applies, if there is one.
 */
export async function claim(db: Db, lease: Lease, now: Date): Promise<Run | undefined> {
  const at = now.toISOString()
  const { lease_owner, lease_until } = leased(lease)
  const { rows } = await sql<Run>`
    with due as (
      select p.organization_id, f.retention_days, f.auto_archive, f.archive_after_days
      from retention_policies p
      left join retention_runs r using (organization_id)
      cross join lateral jsonb_to_record(
        case when p.applies_from <= ${at}::timestamptz then to_jsonb(p) else p.previous end
      ) as f (retention_days integer, auto_archive boolean, archive_after_days integer)
      where not p.legal_hold and f.retention_days is not null
        and coalesce(r.lease_until <= now(), true)
        and (r.finished_at is null or r.finished_at <= ${at}::timestamptz - interval '1 day'
          or (p.applies_from > r.finished_at and p.applies_from <= ${at}::timestamptz))
      -- An interrupted run, whose lease ended a moment ago, follows after the others.
      order by coalesce(r.lease_until, '-infinity'), r.finished_at nulls first, p.organization_id
      limit 1 for update of p skip locked
    )
    insert into retention_runs as r (organization_id, begun_at, lease_owner, lease_until)
    select organization_id, ${at}::timestamptz, ${lease_owner}, ${lease_until} from due
    on conflict (organization_id) do update set ${setLeased(lease)},
      begun_at = case when r.last_email = '' then ${at}::timestamptz else r.begun_at end,
      counts = case when r.last_email = '' then '{}' else r.counts end
    returning organization_id, last_email,
      (select retention_days from due), (select auto_archive from due),
      (select archive_after_days from due)`.execute(db)
  return rows[0]
}

/** Stores the position and the counts; false when the lease was lost. */
export async function progress(
  db: Db,
  organizationId: string,
  lease: Lease,
  counts: Record<string, number>,
  lastEmail?: string,
): Promise<boolean> {
  const names = Object.keys(counts)
  const { numUpdatedRows } = await db
    .updateTable('retention_runs')
    .set({
      ...(lastEmail !== undefined && { last_email: lastEmail }),
      counts: sql`counts || (
        select coalesce(jsonb_object_agg(name, coalesce((counts ->> name)::bigint, 0) + count), '{}')
        from unnest(${names}::text[], ${Object.values(counts)}::bigint[]) as added (name, count))`,
    })
    .where('organization_id', '=', organizationId)
    .where(heldBy(lease))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const finish = (tx: Tx, organizationId: string, lease: Lease, now: Date) =>
  tx
    .updateTable('retention_runs')
    .set({
      finished_at: now.toISOString(),
      last_email: '',
      error_message: null,
      ...released,
    })
    .where('organization_id', '=', organizationId)
    .where(heldBy(lease))
    .returning(sql<Record<string, number>>`counts`.as('counts'))
    .executeTakeFirst()

/** Blocks the next claim for a minute; it then continues from the stored position. */
export const interrupt = (db: Db, organizationId: string, lease: Lease, message: string) =>
  db
    .updateTable('retention_runs')
    .set({
      lease_owner: null,
      lease_until: sql`now() + interval '1 minute'`,
      error_message: message,
    })
    .where('organization_id', '=', organizationId)
    .where(heldBy(lease))
    .execute()

/** Mailboxes and shared mailboxes, in the order of their addresses. */
export async function mailboxesAfter(db: Db, organizationId: string, after: string, limit: number) {
  const { rows } = await sql<{ email: string }>`
    select email from (
      select email from email_accounts where organization_id = ${organizationId}
      union all
      select email from shared_mailboxes where organization_id = ${organizationId}
        and status = 'active'
    ) as mailboxes
    where email > ${after} order by email limit ${limit}`.execute(db)
  return rows.map(({ email }) => email)
}

/** The addresses under a legal hold, or the whole organization. */
export async function heldIn(db: Db, organizationId: string, now: Date) {
  const { rows } = await sql<{ whole_organization: boolean | null; custodians: string[] | null }>`
    select bool_or(custodians = '{}') as whole_organization,
      (select array_agg(distinct address) from legal_holds, unnest(custodians) as address
       where organization_id = ${organizationId} and active
         and (end_date is null or end_date > ${now.toISOString()}::timestamptz)) as custodians
    from legal_holds
    where organization_id = ${organizationId} and active
      and (end_date is null or end_date > ${now.toISOString()}::timestamptz)`.execute(db)
  return {
    isWholeOrganization: rows[0]?.whole_organization ?? false,
    addresses: rows[0]?.custodians ?? [],
  }
}
