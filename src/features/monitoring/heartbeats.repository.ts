import { sql } from 'kysely'
import type { Db } from '../../database/database.ts'

// Several beats may be lost before somebody counts as gone.
const SILENCE_SECONDS = 15
const FORGOTTEN_SECONDS = 24 * 3600

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

/** By the clock of the database: processes on several machines are compared by it. */
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
      }),
    )
    .execute()

export const forget = (db: Db, instance: string) =>
  db.deleteFrom('daemon_heartbeats').where('instance', '=', instance).execute()

export interface DaemonLife {
  name: string
  /** Where one that gives signs of life can be asked; null when none does. */
  address: string | null
  host: string
  seen_at: string
}

/** Each daemon with the process that was seen last. */
export async function daemonLives(db: Db): Promise<DaemonLife[]> {
  const { rows } = await sql<DaemonLife>`
    select distinct on (name) name, host, seen_at,
      case when seen_at > now() - make_interval(secs => ${SILENCE_SECONDS}) then address end as address
    from daemon_heartbeats
    where seen_at > now() - make_interval(secs => ${FORGOTTEN_SECONDS})
    order by name, seen_at desc`.execute(db)
  return rows
}

/** Every process that gives signs of life. */
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

/** What was answered since the last time somebody asked this, per daemon of each process. */
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
