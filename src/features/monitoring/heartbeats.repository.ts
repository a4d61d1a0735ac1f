import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'
import { DAY_SECONDS } from '../../lib/time.ts'

// Several heartbeats may be lost before a process counts as gone.
export const SILENCE_SECONDS = 15
const FORGOTTEN_SECONDS = DAY_SECONDS

export interface Beat {
  name: string
  requests: number
  errors: number
}

interface Process {
  instance: string
  host: string
  address: string
  startedAt: Date
}

/** Uses the database clock, because processes run on several machines. */
export const beat = (db: Db, { instance, host, address, startedAt }: Process, daemons: Beat[]) =>
  db
    .insertInto('daemon_heartbeats')
    .values(
      daemons.map((daemon) => ({
        ...daemon,
        instance,
        host,
        address,
        started_at: startedAt.toISOString(),
        seen_at: sql<string>`now()`,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['instance', 'name']).doUpdateSet({
        address: sql`excluded.address`,
        requests: sql`excluded.requests`,
        errors: sql`excluded.errors`,
        seen_at: sql`now()`,
        claims_freed: false,
      }),
    )
    .execute()

export const forget = (db: Db, instance: string) =>
  db.deleteFrom('daemon_heartbeats').where('instance', '=', instance).execute()

/** Ends the claims of processes whose heartbeat has ended; returns these processes. */
export const freeClaimsOfDead = (db: Db): Promise<string[]> =>
  db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ instance: string }>`
      with dead as (
        update daemon_heartbeats set claims_freed = true
        where not claims_freed and seen_at < now() - make_interval(secs => ${SILENCE_SECONDS})
        returning instance)
      select distinct instance from dead`.execute(tx)
    for (const { instance } of rows) await sql`select free_claims(${instance})`.execute(tx)
    return rows.map(({ instance }) => instance)
  })

export interface DaemonLife {
  name: string
  /** The URL of a live process; null when there is none. */
  address: string | null
  host: string
  seen_at: string
}

/** Each daemon with its most recent process. */
export async function daemonLives(db: Db): Promise<DaemonLife[]> {
  const { rows } = await sql<DaemonLife>`
    select distinct on (name) name, host, seen_at,
      case when seen_at > now() - make_interval(secs => ${SILENCE_SECONDS}) then address end as address
    from daemon_heartbeats
    where seen_at > now() - make_interval(secs => ${FORGOTTEN_SECONDS})
    order by name, seen_at desc`.execute(db)
  return rows
}

/** Every live process. */
export async function liveAddresses(db: Db): Promise<{ host: string; address: string }[]> {
  const { rows } = await sql<{ host: string; address: string }>`
    select distinct host, address from daemon_heartbeats
    where seen_at > now() - make_interval(secs => ${SILENCE_SECONDS})
    order by address`.execute(db)
  return rows
}

export const forgetOld = (db: Db) =>
  sql`delete from daemon_heartbeats
    where seen_at < now() - make_interval(secs => ${FORGOTTEN_SECONDS})`.execute(db)

interface Counted {
  name: string
  requests: number
  errors: number
  seconds: number
}

/** Requests answered since the last call, per daemon of each process. */
export const takeCounts = (db: Db): Promise<Counted[]> =>
  db.transaction().execute(async (tx) => {
    const { rows } = await sql<Counted>`
      select name, requests - sampled_requests as requests, errors - sampled_errors as errors,
        extract(epoch from now() - coalesce(sampled_at, started_at))::double precision as seconds
      from daemon_heartbeats for update`.execute(tx)
    await sql`update daemon_heartbeats set sampled_requests = requests, sampled_errors = errors,
      sampled_at = now()`.execute(tx)
    return rows
  })
