import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/**
 * Takes this daemon's fair share of the lanes and renews what it has; answers which those are. The
 * lease is a row that one daemon at a time can move, so each event is with one daemon only. A daemon
 * that died is missed when its leases run out. Lanes beyond the share are not renewed, rather than
 * given away: an attempt that is under way in one ends before its lease does.
 */
export async function leaseLanes(db: Db, owner: string, leaseSeconds: number): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    with me as (
      insert into webhook_daemons (id, alive_until)
      values (${owner}, now() + make_interval(secs => ${leaseSeconds}))
      on conflict (id) do update set alive_until = excluded.alive_until
    ), forgotten as (
      delete from webhook_daemons where id <> ${owner} and alive_until <= now()
    ), alive as (
      select count(*) + 1 as daemons from webhook_daemons where id <> ${owner} and alive_until > now()
    ), wanted as (
      select lane from webhook_lanes
      where owner = ${owner} or lease_until <= now()
      order by (owner = ${owner}) desc nulls last, lane
      limit (select ceil(64.0 / daemons)::int from alive)
      for update skip locked
    )
    update webhook_lanes
    set owner = ${owner}, lease_until = now() + make_interval(secs => ${leaseSeconds})
    where lane in (select lane from wanted)
    returning lane`.execute(db)
  return rows.map(({ lane }) => lane)
}

export const releaseLanes = (db: Db, owner: string) =>
  sql`
    with gone as (delete from webhook_daemons where id = ${owner})
    update webhook_lanes set owner = null, lease_until = '-infinity' where owner = ${owner}`.execute(
    db,
  )
