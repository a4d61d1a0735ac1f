import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/**
 * Renews the lanes this daemon has, and takes free ones up to its fair share; answers which those
 * are, and how many the share is. The lease is a row that one daemon at a time can move, so each
 * event is with one daemon only. A daemon that died is missed when its leases run out.
 */
export async function leaseLanes(
  db: Db,
  owner: string,
  leaseSeconds: number,
): Promise<{ lanes: number[]; share: number }> {
  const until = sql`now() + make_interval(secs => ${leaseSeconds})`
  const { rows } = await sql<{ lanes: number[]; share: number }>`
    with present as (
      insert into webhook_daemons (id, alive_until) values (${owner}, ${until})
      on conflict (id) do update set alive_until = excluded.alive_until
    ), gone as (
      delete from webhook_daemons
      where id <> ${owner} and alive_until < now() - interval '1 hour'
    ), fair as (
      select ceil(64.0 / (count(*) + 1))::int as share from webhook_daemons
      where id <> ${owner} and alive_until > now()
    ), wanted as (
      select lane from webhook_lanes
      where owner = ${owner} or lease_until <= now()
      order by (owner = ${owner}) desc nulls last, lane
      limit greatest(
        (select share from fair),
        (select count(*) from webhook_lanes where owner = ${owner}))
      for update skip locked
    ), leased as (
      update webhook_lanes set owner = ${owner}, lease_until = ${until}
      where lane in (select lane from wanted)
      returning lane
    )
    select (select coalesce(array_agg(lane order by lane), '{}') from leased) as lanes,
      (select share from fair) as share`.execute(db)
  return rows[0] as { lanes: number[]; share: number }
}

export const giveUpLanes = (db: Db, owner: string, lanes: readonly number[]) =>
  sql`
    update webhook_lanes set owner = null, lease_until = '-infinity'
    where owner = ${owner} and lane = any(${lanes}::smallint[])`.execute(db)

/** Gives everything back at the end. */
export const releaseLanes = (db: Db, owner: string) =>
  sql`
    with gone as (delete from webhook_daemons where id = ${owner})
    update webhook_lanes set owner = null, lease_until = '-infinity'
    where owner = ${owner}`.execute(db)
