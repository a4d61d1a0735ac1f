import { sql } from 'kysely'
import type { Db, Tx } from '../../../database/database.ts'

const LEASE_SECONDS = 900

export interface Run {
  organization_id: string
  retention_days: number
  auto_archive: boolean
  archive_after_days: number
  last_email: string
}

/** The work of an organization whose last run is a day old, or was broken off. */
export async function claim(db: Db, token: string, now: Date): Promise<Run | undefined> {
  const at = now.toISOString()
  const { rows } = await sql<Run>`
    with due as (
      select p.organization_id, p.retention_days, p.auto_archive, p.archive_after_days
      from retention_policies p
      left join retention_runs r using (organization_id)
      where not p.legal_hold and coalesce(r.lease_until <= now(), true)
        and (r.finished_at is null or r.finished_at <= ${at}::timestamptz - interval '1 day'
          or p.updated_at > r.finished_at)
      order by r.finished_at nulls first, p.organization_id
      limit 1 for update of p skip locked
    )
    insert into retention_runs as r (organization_id, begun_at, lease_token, lease_until)
    select organization_id, ${at}::timestamptz, ${token},
      now() + make_interval(secs => ${LEASE_SECONDS}) from due
    on conflict (organization_id) do update set lease_token = ${token},
      lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
      begun_at = case when r.last_email = '' then ${at}::timestamptz else r.begun_at end,
      counts = case when r.last_email = '' then '{}' else r.counts end
    returning organization_id, last_email,
      (select retention_days from due), (select auto_archive from due),
      (select archive_after_days from due)`.execute(db)
  return rows[0]
}

/** How far it is and what was done; false when it is no longer this worker's. */
export async function progress(
  db: Db,
  organizationId: string,
  token: string,
  counts: Record<string, number>,
  lastEmail?: string,
): Promise<boolean> {
  const names = Object.keys(counts)
  const { numUpdatedRows } = await db
    .updateTable('retention_runs')
    .set({
      ...(lastEmail !== undefined && { last_email: lastEmail }),
      lease_until: sql`now() + make_interval(secs => ${LEASE_SECONDS})`,
      counts: sql`counts || (
        select coalesce(jsonb_object_agg(name, coalesce((counts ->> name)::bigint, 0) + count), '{}')
        from unnest(${names}::text[], ${Object.values(counts)}::bigint[]) as added (name, count))`,
    })
    .where('organization_id', '=', organizationId)
    .where('lease_token', '=', token)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export const finish = (tx: Tx, organizationId: string, token: string, now: Date) =>
  tx
    .updateTable('retention_runs')
    .set({
      finished_at: now.toISOString(),
      last_email: '',
      lease_token: null,
      lease_until: '-infinity',
      error_message: null,
    })
    .where('organization_id', '=', organizationId)
    .where('lease_token', '=', token)
    .returning(sql<Record<string, number>>`counts`.as('counts'))
    .executeTakeFirst()

/** Goes on where it was at the next look. */
export const breakOff = (db: Db, organizationId: string, token: string, message: string) =>
  db
    .updateTable('retention_runs')
    .set({
      lease_token: null,
      lease_until: sql`now() + interval '1 minute'`,
      error_message: message,
    })
    .where('organization_id', '=', organizationId)
    .where('lease_token', '=', token)
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

/** Everybody, or these addresses. */
export async function heldIn(db: Db, organizationId: string, now: Date) {
  const { rows } = await sql<{ everybody: boolean | null; custodians: string[] | null }>`
    select bool_or(custodians = '{}') as everybody,
      (select array_agg(distinct address) from legal_holds, unnest(custodians) as address
       where organization_id = ${organizationId} and active
         and (end_date is null or end_date > ${now.toISOString()}::timestamptz)) as custodians
    from legal_holds
    where organization_id = ${organizationId} and active
      and (end_date is null or end_date > ${now.toISOString()}::timestamptz)`.execute(db)
  return { everybody: rows[0]?.everybody ?? false, addresses: rows[0]?.custodians ?? [] }
}
