import { sql } from 'kysely'
import type { Db } from '../../../database/database.ts'

/**
 * Takes this daemon's fair share of the lanes and renews what it has; answers which those are. The
 * lease is a row that one daemon at a time can move, so each event is with one daemon only. A daemon
 * that died is missed when its leases run out.
 */
export async function leaseLanes(db: Db, owner: string, leaseSeconds: number): Promise<number[]> {
  const { rows } = await sql<{ lane: number }>`
    with alive as (
      select count(distinct owner) filter (where owner <> ${owner} and lease_until > now()) + 1 as daemons
      from webhook_lanes
    ), wanted as (
      select lane from webhook_lanes
      where owner = ${owner} or lease_until <= now()
      order by (owner = ${owner}) desc nulls last, lane
      limit (select ceil(64.0 / daemons)::int from alive)
      for update skip locked
    ), given_up as (
      update webhook_lanes set owner = null, lease_until = '-infinity'
      where owner = ${owner} and lane not in (select lane from wanted)
    )
    update webhook_lanes
    set owner = ${owner}, lease_until = now() + make_interval(secs => ${leaseSeconds})
    where lane in (select lane from wanted)
    returning lane`.execute(db)
  return rows.map(({ lane }) => lane)
}

export const releaseLanes = (db: Db, owner: string) =>
  sql`update webhook_lanes set owner = null, lease_until = '-infinity' where owner = ${owner}`.execute(
    db,
  )
